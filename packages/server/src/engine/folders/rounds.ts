/** Work over many items that lets the event loop serve others in between. */
import { setImmediate } from 'node:timers/promises'

/** Items between two rounds of the event loop. */
const atOnce = 5_000

export async function* inRounds<Item>(items: Iterable<Item>): AsyncGenerator<Item[]> {
  let some: Item[] = []
  for (const item of items) {
    some.push(item)
    if (some.length < atOnce) continue
    yield some
    some = []
    await setImmediate()
  }
  yield some
}

/** The first items in an order, in that order. */
export async function selectFirst<Item>(
  items: Iterable<Item>,
  compare: (one: Item, other: Item) => number,
  most: number,
): Promise<Item[]> {
  let first: Item[] = []
  for await (const some of inRounds(items))
    first = [...first, ...some].toSorted(compare).slice(0, most)
  return first
}
