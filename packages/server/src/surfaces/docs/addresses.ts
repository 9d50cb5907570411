/**
 * Addresses of the documentation, from the root of the service. A source has its path in the repository, so that links
 * between sources hold; its page has a name without `.md` below `docs/`.
 */
import { posix } from 'node:path'

/** Pages beside the folder `docs`. */
const pagesOfRoot: ReadonlyMap<string, string> = new Map([
  ['README.md', 'docs/quickstart'],
  ['AGENTS.md', 'docs/working-on-steward'],
  ['CHANGELOG.md', 'docs/changelog'],
  ['CODE_OF_CONDUCT.md', 'docs/code-of-conduct'],
  ['CONTRIBUTING.md', 'docs/contributing'],
  ['REVIEW.md', 'docs/review'],
  ['SECURITY.md', 'docs/report-a-weakness'],
])

/** Files beside the folder `docs` that are served. */
export const filesOfRoot: readonly string[] = [...pagesOfRoot.keys(), 'LICENSE']

export const stylePath = 'docs/docs.css'

/** The address of the page of a Markdown file. */
export const pageOf = (file: string): string =>
  pagesOfRoot.get(file) ?? file.replace(/README\.md$|\.md$/, '')

/** Other addresses of a page that people and programs may try, and where each leads. */
export function movedAddresses(file: string): [from: string, to: string][] {
  const page = pageOf(file)
  if (pagesOfRoot.has(file)) return [[`${page}.md`, file]]
  if (!page.endsWith('/')) return [[`${page}/`, page]]
  const others = [`${page}index`, `${page}README`]
  // The folder without its slash is the page of endpoints.
  if (page !== 'docs/') others.push(page.slice(0, -1))
  return others.map((other) => [other, page])
}

const folderOf = (address: string): string => address.slice(0, address.lastIndexOf('/') + 1)

/** A link from one address to another, which holds below any base path. */
export function linkBetween(from: string, to: string): string {
  const folder = folderOf(to)
  const way = posix.relative(`/${folderOf(from)}`, `/${folder}`)
  const name = to.slice(folder.length)
  return way === '' ? name || './' : `${way}/${name}`
}

/** The file that a link of another file leads to. */
export const linkedFile = (from: string, path: string): string =>
  path === '' ? from : posix.join(posix.dirname(from), path)
