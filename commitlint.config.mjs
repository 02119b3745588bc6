/** Commit subjects have the form `scope: imperative` and at most 72 characters (CONTRIBUTING.md). */
const NOT_VERBS = /^(?:[a-z]+ed|[a-z]+ing|[a-z]+[^s]s)$/;
/** Imperatives that `NOT_VERBS` would reject, because they look like a past tense, a participle or the third person. */
const VERBS = new Set([
  'bring',
  'embed',
  'exceed',
  'feed',
  'focus',
  'need',
  'proceed',
  'seed',
  'shed',
  'speed',
  'spring',
  'string',
  'succeed',
  'weed',
]);

export default {
  parserPreset: {
    parserOpts: {
      headerPattern: /^([a-z0-9][a-z0-9,/ .-]*): (.+)$/,
      headerCorrespondence: ['scope', 'subject'],
    },
  },
  plugins: [
    {
      rules: {
        'subject-imperative': ({ subject }) => {
          const [first = ''] = (subject ?? '').split(' ');
          return [
            VERBS.has(first) || !NOT_VERBS.test(first),
            `"${first}" is not an imperative: write what the commit does`,
          ];
        },
      },
    },
  ],
  rules: {
    'body-leading-blank': [2, 'always'],
    'header-max-length': [2, 'always', 72],
    'scope-empty': [2, 'never'],
    'subject-empty': [2, 'never'],
    'subject-full-stop': [2, 'never', '.'],
    'subject-imperative': [2, 'always'],
  },
};
