/**
 * Where a reader of a workspace's stream stands, as the id of an event: the time of the newest change, and the `seq` of
 * the newest event of each session that it follows. [stream/workspace/resumed]
 */
import { hourMs } from '@steward/base/settings/kinds.ts'

export type StreamPosition = {
  /** Milliseconds. */
  at: number
  sessions: Map<string, number>
}

/** Older positions are not resumed. */
export const resumableMs = hourMs

export const positionText = ({ at, sessions }: StreamPosition): string =>
  [at.toString(36), ...[...sessions].map(([id, seq]) => `${id}:${seq}`)].join(',')

const Session = /^(sesn_[0-9a-f]+):(\d{1,15})$/

/** Undefined for a text that is no position. */
export function readPosition(text: string): StreamPosition | undefined {
  const [at = '', ...rest] = text.split(',')
  if (!/^[0-9a-z]{1,11}$/.test(at)) return undefined
  const sessions = new Map<string, number>()
  for (const each of rest) {
    const [, id, seq] = Session.exec(each) ?? []
    if (id === undefined) return undefined
    sessions.set(id, Number(seq))
  }
  return { at: Number.parseInt(at, 36), sessions }
}
