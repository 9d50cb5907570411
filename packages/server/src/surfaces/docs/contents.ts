/** The table of contents: what an index page lists in its tables. */
import type { Token, Tokens } from 'marked'
import { lexer } from 'marked'
import { linkedFile } from './addresses.ts'

/** `about`: what the index says of the page, as Markdown. */
export type ListedPage = { file: string; label: string; about: string }
export type PageGroup = { title: string; pages: ListedPage[] }

/** Returns the pages by the headings of the index, each where it is linked as a whole for the first time. */
export function readContents(index: string, markdown: string): PageGroup[] {
  const groups: PageGroup[] = []
  const listed = new Set<string>()
  for (const token of lexer(markdown)) {
    if (isHeading(token)) groups.push({ title: token.text, pages: [] })
    if (!isTable(token)) continue
    const pages = token.rows.flatMap((row) => listedPages(index, row))
    for (const page of pages) {
      if (!listed.has(page.file)) groups.at(-1)?.pages.push(page)
      listed.add(page.file)
    }
  }
  return groups.filter(({ pages }) => pages.length > 0)
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'
const isTable = (token: Token): token is Tokens.Table => token.type === 'table'
const isLink = (token: Token): token is Tokens.Link => token.type === 'link'

function listedPages(index: string, row: readonly Tokens.TableCell[]): ListedPage[] {
  return row.flatMap((cell) => {
    const about = row.find((other) => other !== cell)?.text ?? ''
    return cell.tokens
      .filter(isLink)
      .filter(({ href }) => /^[\w./-]+\.md$/.test(href))
      .map(({ href, text }) => ({ file: linkedFile(index, href), label: text, about }))
  })
}
