/** Lists of this surface. The id of a page's last item asks for the next page. */
import type { AfterQuery, OpenAIList } from '@steward/protocol/openai/lists.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { invalid } from '../../ground/core/errors.ts'

export const defaultLimit = 20

/** `find` reads the row of `after`, and returns undefined when the list does not have this row. */
export async function resolvePaging(
  { limit = defaultLimit, order = 'desc', after }: AfterQuery,
  find: (id: string) => Promise<{ id: string; created_at: string } | undefined>,
): Promise<Paging> {
  if (after === undefined) return { limit, order }
  const last = await find(after)
  if (!last) throw unknownAfter(after)
  return { limit, order, from: { side: 'after', created_at: last.created_at, id: last.id } }
}

export const unknownAfter = (after: string) => invalid(`after: ${after} is no item of this list`)

export const openaiList = <Item extends { id: string }>(
  data: Item[],
  more: boolean,
): OpenAIList<Item> => ({
  object: 'list',
  data,
  has_more: more,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
})

export const showOpenAIList = <Row, Item extends { id: string }>(
  { rows, more }: Listing<Row>,
  show: (row: Row) => Item,
): OpenAIList<Item> => openaiList(rows.map(show), more)

export const unixSeconds = (at: string): number => Math.floor(Date.parse(at) / 1000)
