/** What a thing does, by meaning: only failures and what asks people have a colour of their own. */
export type StatusTone = 'running' | 'asks' | 'failed' | 'idle' | 'done' | 'queued'
