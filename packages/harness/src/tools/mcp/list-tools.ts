/** Reads all pages of `tools/list`. */
import { describeMcpFailure } from './failure.ts'
import { listedTools } from './fit-tools.ts'
import type { ToolListing } from './fit-tools.ts'

/** A page as the server sent it. */
export type ToolPage = { tools?: unknown; nextCursor?: unknown }

const mostPages = 64
/** Characters of all pages. The first is used whatever its length. */
const mostCharacters = 8 * 1024 * 1024

/** Tools of pages that came are kept when a later page fails. Rejects when the first fails, or after an abort. */
export async function listTools(
  ask: (cursor: string | undefined) => Promise<ToolPage>,
  signal: AbortSignal,
): Promise<ToolListing> {
  const listed = listedTools()
  const leftOut: string[] = []
  let characters = 0
  let cursor: string | undefined
  let last = ''
  for (let page = 1; ; page++) {
    let given: ToolPage
    try {
      given = await ask(cursor)
    } catch (error) {
      if (page === 1 || signal.aborted) throw error
      leftOut.push(`what stands behind page ${page - 1} (${describeMcpFailure(error)})`)
      break
    }
    const next = cursorOf(given.nextCursor)
    const text = JSON.stringify(given.tools) ?? ''
    // A cursor that leads back to the same page would lead there for ever.
    if (page > 1 && next === cursor && text === last) break
    last = text
    if (Array.isArray(given.tools)) listed.add(given.tools)
    else if (given.tools !== null) leftOut.push(`page ${page} (its \`tools\` is no list)`)
    if (next === undefined) break
    characters += text.length
    if (page === mostPages || listed.isFull() || characters > mostCharacters) {
      leftOut.push(`what stands behind page ${page}`)
      break
    }
    cursor = next
  }
  return listed.listing(leftOut)
}

function cursorOf(given: unknown): string | undefined {
  if (typeof given === 'number') return String(given)
  return typeof given === 'string' && given !== '' ? given : undefined
}
