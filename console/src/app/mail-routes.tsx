import { createRoute } from '@tanstack/react-router';
import { lazyPart } from '../kit/load/lazy-part';
import { readEmailFilters, readMessageFilters, readSuppressionFilters, readTopicFilters } from '../mail/mail-filters';
import { environment } from './base-routes';
import { none, only } from './search';

const emails = createRoute({
  getParentRoute: () => environment,
  path: 'emails',
  validateSearch: only(readEmailFilters),
  component: lazyPart(() => import('../mail/EmailsScreen').then(({ EmailsScreen }) => EmailsScreen)),
});
const email = createRoute({
  getParentRoute: () => environment,
  path: 'emails/$id',
  validateSearch: none,
  component: lazyPart(() => import('../mail/EmailScreen').then(({ EmailScreen }) => EmailScreen)),
});
const templates = createRoute({
  getParentRoute: () => environment,
  path: 'templates',
  validateSearch: none,
  component: lazyPart(() => import('../mail/TemplatesScreen').then(({ TemplatesScreen }) => TemplatesScreen)),
});
const template = createRoute({
  getParentRoute: () => environment,
  path: 'templates/$id',
  validateSearch: none,
  component: lazyPart(() => import('../mail/TemplateScreen').then(({ TemplateScreen }) => TemplateScreen)),
});
const topics = createRoute({
  getParentRoute: () => environment,
  path: 'topics',
  validateSearch: none,
  component: lazyPart(() => import('../mail/TopicsScreen').then(({ TopicsScreen }) => TopicsScreen)),
});
const topic = createRoute({
  getParentRoute: () => environment,
  path: 'topics/$id',
  validateSearch: only(readTopicFilters),
  component: lazyPart(() => import('../mail/TopicScreen').then(({ TopicScreen }) => TopicScreen)),
});
const inbox = createRoute({
  getParentRoute: () => environment,
  path: 'inbox',
  validateSearch: none,
  component: lazyPart(() => import('../mail/InboxScreen').then(({ InboxScreen }) => InboxScreen)),
});
const alias = createRoute({
  getParentRoute: () => environment,
  path: 'inbox/$alias',
  validateSearch: only(readMessageFilters),
  component: lazyPart(() => import('../mail/AliasScreen').then(({ AliasScreen }) => AliasScreen)),
});
const receivedMessage = createRoute({
  getParentRoute: () => environment,
  path: 'inbox/$alias/$id',
  validateSearch: none,
  component: lazyPart(() => import('../mail/MessageScreen').then(({ MessageScreen }) => MessageScreen)),
});
const suppressions = createRoute({
  getParentRoute: () => environment,
  path: 'suppressions',
  validateSearch: only(readSuppressionFilters),
  component: lazyPart(() => import('../mail/SuppressionsScreen').then(({ SuppressionsScreen }) => SuppressionsScreen)),
});

/** Routes of the screens for sent and received email. */
export const MAIL_ROUTES = [
  emails,
  email,
  templates,
  template,
  topics,
  topic,
  inbox,
  alias,
  receivedMessage,
  suppressions,
] as const;
