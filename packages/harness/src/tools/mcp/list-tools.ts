/** Reads all pages of `tools/list`. */
import { reasonOf } from './failure.ts'
import { fitTools } from './fit-tools.ts'
import type { ToolListing } from './fit-tools.ts'

/** A page as the server sent it. */
export type ToolPage = { tools?: unknown; nextCursor?: unknown }

const mostPages = 64

/** Tools of pages that came are kept when a later page fails. Rejects when the first fails, or after an abort. */
export async function listTools(
  ask: (cursor: string | undefined) => Promise<ToolPage>,
  signal: AbortSignal,
): Promise<ToolListing> {
  const entries: unknown[] = []
  const leftOut: string[] = []
  let cursor: string | undefined
  let last = ''
  for (let page = 1; ; page++) {
    let given: ToolPage
    try {
      given = await ask(cursor)
    } catch (error) {
      if (page === 1 || signal.aborted) throw error
      leftOut.push(`what stands behind page ${page - 1} (${reasonOf(error)})`)
      break
    }
    const next = cursorOf(given.nextCursor)
    const text = JSON.stringify(given.tools) ?? ''
    // A cursor that leads back to the same page would lead there for ever.
    if (page > 1 && next === cursor && text === last) break
    last = text
    if (Array.isArray(given.tools))
      for (const entry of given.tools as unknown[]) entries.push(entry)
    else if (given.tools !== null) leftOut.push(`page ${page} (its \`tools\` is no list)`)
    if (next === undefined) break
    if (page === mostPages) {
      leftOut.push(`what stands behind page ${mostPages}`)
      break
    }
    cursor = next
  }
  const fit = fitTools(entries)
  return { tools: fit.tools, leftOut: [...fit.leftOut, ...leftOut] }
}

function cursorOf(given: unknown): string | undefined {
  if (typeof given === 'number') return String(given)
  return typeof given === 'string' && given !== '' ? given : undefined
}
