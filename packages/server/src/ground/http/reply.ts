import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { SwitchProtocol } from './protocol-switch.ts'
import type { TextPieces } from './bodies/write-body.ts'

/** An answer that is not a JSON body with status 200. */
export type RouteReply =
  | { reply: 'json'; status: number; body: object | null; headers?: Record<string, string> }
  | { reply: 'empty'; status: number; headers?: Record<string, string> }
  /** JSON as text, already in the caller's dialect. */
  | { reply: 'text'; text: string }
  | { reply: 'stream'; frames: TextPieces }
  /** JSON that is too long for memory, as pieces of text. */
  | { reply: 'texts'; texts: TextPieces }
  /** Bytes. `ours`: nobody else uses a piece after it was passed on, so that its memory can be freed. */
  | {
      reply: 'raw'
      status: number
      headers: [name: string, value: string][]
      body: Readable
      ours?: boolean
    }
  /** The connection itself, for a caller that requested this protocol. */
  | { reply: 'switch'; protocol: SwitchProtocol; take: (connection: Socket) => void }

export const jsonReply = (status: number, body: object | null): RouteReply => ({
  reply: 'json',
  status,
  body,
})
export const jsonTextReply = (text: string): RouteReply => ({ reply: 'text', text })
export const emptyReply = (status: number): RouteReply => ({ reply: 'empty', status })
export const streamReply = (frames: TextPieces): RouteReply => ({ reply: 'stream', frames })
export const piecesReply = (texts: TextPieces): RouteReply => ({ reply: 'texts', texts })

export const isReply = (value: object): value is RouteReply =>
  'reply' in value && typeof value.reply === 'string'
