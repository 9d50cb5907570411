/** The pieces of the talk: which of them shows an event, their order, and calls that fold into one. */
import type { SessionEvent } from '../../lib/api/types.ts'
import type { TalkItem, ToolCall } from './conversation.ts'

/** What shows each event in the talk, by the event's id: a result stands with its call. */
function shownBy(items: readonly TalkItem[]): Map<string, string> {
  const shown = new Map<string, string>()
  for (const item of items) {
    if (item.kind !== 'tools') shown.set(item.id, item.id)
    else
      for (const { id, result } of item.calls) {
        shown.set(id, id)
        if (result) shown.set(result.id, id)
      }
  }
  return shown
}

/** The piece of the talk that shows an event; of one that the talk leaves out the next piece, else the last before. */
export function pieceOf(
  items: readonly TalkItem[],
  events: readonly SessionEvent[],
  event: string | undefined,
): string | undefined {
  if (event === undefined) return undefined
  const shown = shownBy(items)
  const own = shown.get(event)
  if (own !== undefined) return own
  const at = events.findIndex(({ id }) => id === event)
  if (at === -1) return undefined
  const place = ({ id }: SessionEvent) => shown.has(id)
  const near = events.slice(at).find(place) ?? events.slice(0, at).findLast(place)
  return near && shown.get(near.id)
}

/** The pieces of the talk in their order, each call one of its own. */
export const piecesOf = (items: readonly TalkItem[]): string[] =>
  items.flatMap((item) => (item.kind === 'tools' ? item.calls.map(({ id }) => id) : [item.id]))

export type FoldedCalls = { calls: readonly ToolCall[]; isFolded: boolean }

/** So many calls of one tool fold into one line; two lines are read as fast as one. */
const leastFolded = 3

/** Calls of one tool that follow each other and have all ended. */
export function runsOf(calls: readonly ToolCall[]): FoldedCalls[] {
  const runs: ToolCall[][] = []
  for (const call of calls) {
    const last = runs.at(-1)
    const isAlike = last?.every(({ name, result }) => name === call.name && result) && call.result
    if (last && isAlike) last.push(call)
    else runs.push([call])
  }
  return runs.flatMap((run): FoldedCalls[] =>
    run.length < leastFolded
      ? run.map((call) => ({ calls: [call], isFolded: false }))
      : [{ calls: run, isFolded: true }],
  )
}
