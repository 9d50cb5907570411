export type Requirement = {
  /** Heading of docs/interface.md that contains the requirement. */
  section: string
  says: string
  /** Set when the requirement is specified and not delivered yet. */
  deferred?: 'later'
}

type Chapter = { title: string; requirements: Map<string, Requirement> }

const heading = /^(##|###) (\d+(?:\.\d+)? .+)$/
const mark = /^(.*?)\s*\[([a-z0-9-]+(?:\/[a-z0-9-]+)+)(?:, (later))?\](?: \|)?$/

/**
 * Returns all requirements of docs/interface.md by chapter, in the order of the text.
 * Throws for an id that occurs twice or outside a section.
 */
export function readSpecification(markdown: string): Chapter[] {
  const chapters: Chapter[] = []
  const seen = new Set<string>()
  let section: string | undefined
  for (const line of markdown.split('\n')) {
    const [, level, title] = heading.exec(line) ?? []
    if (title !== undefined) {
      section = title
      if (level === '##') chapters.push({ title, requirements: new Map() })
      continue
    }
    const [, text = '', id, deferred] = mark.exec(line) ?? []
    if (id === undefined) continue
    const chapter = chapters.at(-1)
    if (section === undefined || chapter === undefined) throw new Error(`${id} has no section`)
    if (seen.has(id)) throw new Error(`${id} stands twice in docs/interface.md`)
    seen.add(id)
    chapter.requirements.set(id, {
      section,
      says: sentence(text),
      ...(deferred === undefined ? {} : { deferred: 'later' }),
    })
  }
  return chapters
}

/** Returns a list item without its dash, or the filled cells of a table row in one line. */
function sentence(text: string): string {
  if (!text.startsWith('|')) return text.replace(/^[-*] /, '')
  const cells = text.split('|').map((cell) => cell.trim())
  return cells.filter((cell) => cell !== '').join(' – ')
}
