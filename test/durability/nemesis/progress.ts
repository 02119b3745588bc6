import type { MailVerdict } from './mail-verdict.js';
import type { Done, Results } from './run.js';
import { complaintsOf, type Verdict } from './verdict.js';

export function line(verdict: Verdict): string {
  const {
    kinds,
    effects,
    accepted,
    lost,
    doubled,
    doubledAllowed,
    corrupted,
    wronglySigned,
    misdated,
    refused,
    crashed,
    backSeconds,
    backSecondsMax,
    wrongs,
  } = verdict;
  return [
    kinds.join(' + '),
    `accepted ${accepted}`,
    `lost ${lost}`,
    `doubled ${doubled} (${doubledAllowed} allowed)`,
    `corrupted ${corrupted}`,
    `wrongly signed ${wronglySigned}${misdated > 0 ? `, misdated ${misdated}` : ''}`,
    `refused ${refused}`,
    ...(crashed > 0 ? [`ended by themselves ${crashed}`] : []),
    backSeconds === null
      ? 'never back'
      : `back after ${backSeconds.toFixed(1)} s (${backSecondsMax.toFixed(1)} allowed)`,
    effects.join(', '),
    ...(verdict.mail ? [told(verdict.mail)] : []),
    ...(wrongs.length > 0 ? [`WRONG: ${wrongs.join('; ')}`] : []),
  ].join(' · ');
}

const told = ({ received, sent, lost, corrupted, doubled, repeated }: MailVerdict): string =>
  `mail: ${received} in, ${sent} out, lost ${lost}, corrupted ${corrupted}, doubled ${doubled}, sent again ${repeated}`;

const COLUMNS: readonly [title: string, width: number][] = [
  ['minute', 10],
  ['round', 6],
  ['fleet', 10],
  ['accepted', 9],
  ['lost', 5],
  ['doubled', 8],
  ['allowed', 8],
  ['corrupt', 8],
  ['forged', 7],
  ['refused', 8],
  ['ended', 6],
  ['back s', 7],
  ['allowed', 8],
  ['faults', 0],
];

/** Returns the column titles of `row`. */
export function header(): string {
  return cells(COLUMNS.map(([title]) => title));
}

/** Returns a round as a row of the table. */
export function row({ number, atMinute, ofMinutes, fleet, names, verdict, error }: Done): string {
  const first = [`${atMinute.toFixed(1)}/${ofMinutes}`, number, fleet];
  if (!verdict)
    return cells([...first, ...Array.from({ length: 10 }, () => '-'), `${names.join(' + ')} · ERROR: ${error}`]);
  const { accepted, lost, doubled, doubledAllowed, corrupted, wronglySigned, refused, crashed } = verdict;
  const back = verdict.backSeconds?.toFixed(1) ?? 'never';
  const wrong = complaintsOf(verdict);
  const what = `${verdict.kinds.join(' + ')}${verdict.mail ? ` · ${told(verdict.mail)}` : ''}${wrong.length > 0 ? ` · WRONG: ${wrong.join('; ')}` : ''}`;
  return cells([
    ...first,
    accepted,
    lost,
    doubled,
    doubledAllowed,
    corrupted,
    wronglySigned,
    refused,
    crashed,
    back,
    verdict.backSecondsMax.toFixed(1),
    what,
  ]);
}

/** Returns the results of every kind of fault, whether the kind was injected alone or with others. */
export function summary({ rounds, faults, missing, isClean }: Results): string {
  const names = [...new Set(rounds.flatMap((done) => done.names))].sort();
  const titles = [
    'kind',
    'rounds',
    'accepted',
    'lost',
    'doubled',
    'allowed',
    'corrupt',
    'forged',
    'refused',
    'ended',
    'errors',
    'back p50',
    'max s',
  ];
  const lines = names.map((name) => {
    const found = rounds.filter((done) => done.names.includes(name));
    const verdicts = found.flatMap(({ verdict }) => (verdict ? [verdict] : []));
    const sum = (of: (verdict: Verdict) => number): number =>
      verdicts.reduce((total, verdict) => total + of(verdict), 0);
    const backs = verdicts.map(({ backSeconds }) => backSeconds ?? Infinity).sort((a, b) => a - b);
    return [
      name,
      found.length,
      sum((v) => v.accepted),
      sum((v) => v.lost),
      sum((v) => v.doubled),
      sum((v) => v.doubledAllowed),
      sum((v) => v.corrupted),
      sum((v) => v.wronglySigned),
      sum((v) => v.refused),
      sum((v) => v.crashed),
      found.length - verdicts.length,
      seconds(backs[Math.floor(backs.length / 2)]),
      seconds(backs.at(-1)),
    ];
  });
  const missingLines = missing.map(
    ({ fleet, messageIds }) => `${messageIds.length} messages to misbehaving receivers never arrived (fleet ${fleet})`,
  );
  const widths = titles.map((title, i) => Math.max(title.length, ...lines.map((cell) => String(cell[i]).length)));
  const table = [titles, ...lines].map((line) =>
    line
      .map((cell, i) => (i === 0 ? String(cell).padEnd(widths[i] ?? 0) : String(cell).padStart(widths[i] ?? 0)))
      .join('  '),
  );
  return [
    ...table,
    '',
    `${faults} faults in ${rounds.length} rounds: ${isClean ? 'every promise was kept' : 'PROMISES WERE BROKEN'}`,
    ...missingLines,
  ].join('\n');
}

const seconds = (back: number | undefined): string =>
  back === undefined ? '-' : back === Infinity ? 'never' : back.toFixed(1);

function cells(values: readonly (string | number)[]): string {
  return values.map((value, i) => String(value).padEnd(COLUMNS[i]?.[1] ?? 0)).join(' ');
}
