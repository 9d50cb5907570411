import type { Frames } from './sse.ts'

/** An answer that is not a JSON body with status 200. */
export type Reply =
  | { reply: 'json'; status: number; body: object; headers?: Record<string, string> }
  | { reply: 'empty'; status: number }
  | { reply: 'stream'; frames: Frames }

export const empty = (status: number): Reply => ({ reply: 'empty', status })
export const stream = (frames: Frames): Reply => ({ reply: 'stream', frames })

export const isReply = (value: object): value is Reply =>
  'reply' in value && typeof value.reply === 'string'
