import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { keysOf } from '../kit/shortcuts/registry';
import { useShortcut } from '../kit/shortcuts/use-shortcut';
import { useEventList } from './event-queries';
import { EventTable } from './EventTable';
import { FilterBar } from './FilterBar';
import { FirstEvent } from './FirstEvent';
import { rememberList } from './list-place';
import { SelectionBar } from './SelectionBar';
import './events.css';

/** The list of events: newest first, live, a hundred at a time as one scrolls. */
export function EventsScreen(): ReactNode {
  const filters = useSearch({ from: '/$env/events' });
  const [isPaused, setPaused] = useState(false);
  const [isScrolled, setScrolled] = useState(false);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const list = useEventList(filters, { isLive: true, isReading: isPaused || isScrolled || selected.size > 0 });
  const { rows, pages, arrived, hasGap } = list;
  useShortcut('pause', () => setPaused(!isPaused));
  useEffect(() => rememberList(rows.map(({ id }) => id), filters), [rows, filters]);
  useEffect(() => setSelected(new Set()), [filters]);
  const waiting = arrived.waiting.length + arrived.notKept;
  const isEmpty = pages.isSuccess && rows.length === 0;
  return (
    <div className="events page wide">
      <title>{`${t('nav.events')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.events')}</h1>
        <button type="button" aria-pressed={isPaused} title={keysOf('pause')} onClick={() => setPaused(!isPaused)}>{t(isPaused ? 'live.go-on' : 'live.pause')}</button>
        <button type="button" onClick={list.reload}>{t('reload')}</button>
      </div>
      <FilterBar filters={filters} />
      <FaultLine fault={pages.error} />
      <div className="news" aria-live="polite">
        {waiting > 0 && arrived.notKept === 0 && <button type="button" className="primary small" onClick={list.showWaiting}>{t('live.waiting', { count: waiting })}</button>}
        {arrived.notKept > 0 && <button type="button" className="primary small" onClick={list.reload}>{t('live.not-shown', { count: waiting })}</button>}
        {hasGap && <button type="button" className="small" onClick={list.reload}>{t('live.gap')}</button>}
      </div>
      {selected.size > 0 && <SelectionBar rows={rows.filter(({ id }) => selected.has(id))} onDone={() => setSelected(new Set())} />}
      {isEmpty && Object.keys(filters).length === 0 && <FirstEvent />}
      {isEmpty && Object.keys(filters).length > 0 && <p className="empty" role="status">{t('events.none')}</p>}
      {rows.length > 0 && <EventTable list={list} selected={selected} onSelect={setSelected} onScrolled={setScrolled} />}
      {pages.isPending && <p role="status">{t('loading')}</p>}
    </div>
  );
}
