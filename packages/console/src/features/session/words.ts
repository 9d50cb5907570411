/** Sentences of the views beside a conversation, of a fork's origin and of trying a failed turn again. */
export const usageWords = {
  title: 'What the tokens cost',
  kind: 'Tokens',
  count: 'Count',
  price: 'Per million',
  cost: 'Cost',
  input: 'Input',
  cacheRead: 'From cache',
  cacheWritten: 'Into cache',
  output: 'Output',
  cached: 'Cache r/w',
  cachedTitle: (read: string, written: string) => `${read} from cache, ${written} into it`,
  sum: 'Total',
  charged: 'The session has cost',
  differs: 'The session has used other models or prices too. Each request says below what it cost.',
  noPrice: 'The price of this model is not known. Its model card can say it.',
} as const

export const memoryWords = {
  none: 'No memory store is attached.',
  unchanged: 'This session has changed nothing in it.',
  access: { read_write: 'reads and writes', read_only: 'only reads' },
  operations: { created: 'new', modified: 'changed', deleted: 'deleted' },
  redactedPath: 'a memory whose text was removed',
  redacted: 'The text of this version was removed.',
} as const

export const credentialsWords = {
  none: 'No call of this session has carried a credential.',
  title: 'Credentials that calls carried',
  host: 'Host',
  credential: 'Credential',
  calls: 'Calls',
  last: 'Last',
  status: 'Status',
  inline: 'of the agent',
  noAnswer: 'none yet',
  counted: 'Counted in the newest calls.',
  more: 'Count earlier calls',
} as const

export const originWords = {
  from: 'forked from',
  at: (seq: string) => `at event ${seq}`,
  forks: 'Forks',
  more: 'There are more forks than are listed here.',
} as const

export const retryWords = {
  turnFailed: 'The last turn failed',
  sessionFailed: 'This session has failed, and takes no more messages',
  send: 'Send the last message again',
  fork: 'Fork before the last message and send it again',
  noMessage: 'Nobody has written a message that could be sent again',
  isFirst: 'The log begins with the message: there is nothing before it to fork at',
  looking: 'The last message comes',
  forkTitle: (title: string) => `${title} (again)`,
} as const

export const decidedWords = {
  never: 'Nobody has decided about this tool in this session before.',
  before: (tool: string, parts: string) => `${tool} in this session before: ${parts}.`,
  atLeast: (parts: string) => `at least ${parts}`,
  approved: (count: number) => (count === 1 ? 'approved once' : `approved ${count} times`),
  denied: (count: number) => (count === 1 ? 'denied once' : `denied ${count} times`),
  goesTo: (host: string) => `Goes to ${host}.`,
  goesWith: (host: string, credential: string) =>
    `Goes to ${host}, for which the vaults hold the credential ${credential}.`,
} as const
