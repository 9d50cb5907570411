/** The documentation as answers by address: a fixed list of what was there at the first request. */
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { html } from '../../ground/http/html.ts'
import {
  filesOfRoot,
  linkBetween,
  linkedFile,
  movedAddresses,
  pageOf,
  stylePath,
} from './addresses.ts'
import type { DocsAnswer } from './answers.ts'
import { bytesAnswer, movedAnswer, pageAnswer, textAnswer } from './answers.ts'
import type { PageGroup } from './contents.ts'
import { readContents } from './contents.ts'
import { llmsText, sectionOf } from './llms.ts'
import { renderMarkdown } from './markdown.ts'
import { renderDocsPage } from './page.ts'
import { docsStyle } from './style.ts'

export type DocsSite = {
  /** Undefined for an address that has nothing. */
  find: (address: string) => DocsAnswer | undefined
  /** The page for a person at such an address. */
  absentPage: (address: string) => string
}

const plainText = 'text/plain; charset=utf-8'

/** Media types of the files that are served, by their extensions. */
const mediaTypes: Record<string, string> = {
  '.csv': 'text/csv; charset=utf-8',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  // Shown, where a browser would offer it as a download.
  '.yaml': plainText,
}

/** The folder with `docs`, as it is read: its files, and what its indexes list. */
type Sources = {
  files: ReadonlySet<string>
  read: (file: string) => Promise<Buffer>
  readText: (file: string) => Promise<string>
  groups: readonly PageGroup[]
  records: readonly PageGroup[]
}

/** `root`: the folder with `docs`. `url`: where the service is reached; empty where nobody has said it. */
export async function openDocsSite(root: string, url: string): Promise<DocsSite> {
  const sources = await openSources(root)
  const answers = new Map<string, DocsAnswer>([
    ...[...sources.files].flatMap((file) => answersOf(file, sources)),
    ...textAnswers(sources, url),
    [stylePath, textAnswer('text/css; charset=utf-8', docsStyle)],
  ])
  return {
    find: (address) => answers.get(address),
    absentPage: (at) => renderDocsPage(absentPage(linkBetween(at, 'docs/')), { at, ...sources }),
  }
}

async function openSources(root: string): Promise<Sources> {
  const read = (file: string) => readFile(join(root, file))
  const readText = async (file: string) => (await read(file)).toString('utf8')
  const contents = async (index: string) => readContents(index, await readText(index))
  const below = await readdir(join(root, 'docs'), { recursive: true, withFileTypes: true })
  const found = below
    .filter((entry) => entry.isFile() && extname(entry.name) in mediaTypes)
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  return {
    files: new Set([...filesOfRoot, ...found]),
    read,
    readText,
    groups: await contents('docs/README.md'),
    records: await contents('docs/decisions/README.md'),
  }
}

function answersOf(file: string, sources: Sources): [address: string, DocsAnswer][] {
  const type = mediaTypes[extname(file)] ?? plainText
  if (!file.endsWith('.md')) return [[file, bytesAnswer(type, () => sources.read(file))]]
  const page = pageOf(file)
  return [
    [file, textAnswer(type, () => sources.readText(file))],
    [page, pageAnswer(() => renderFile(file, sources))],
    ...movedAddresses(file).map(([from, to]): [string, DocsAnswer] => [
      from,
      movedAnswer(linkBetween(from, to)),
    ]),
  ]
}

async function renderFile(file: string, { files, readText, groups }: Sources): Promise<string> {
  const at = pageOf(file)
  const linkTo = (path: string) => {
    const target = linkedFile(file, path)
    if (!files.has(target)) return undefined
    return linkBetween(at, target.endsWith('.md') ? pageOf(target) : target)
  }
  const darkPicture = (path: string) =>
    path.endsWith('-light.png') ? linkTo(path.replace(/light\.png$/, 'dark.png')) : undefined
  const page = renderMarkdown(await readText(file), { linkTo, darkPicture })
  return renderDocsPage(page, { at, groups, source: file })
}

/** The texts for programs. */
function textAnswers(sources: Sources, url: string): [address: string, DocsAnswer][] {
  const { groups, records, readText } = sources
  const urlOf = (file: string) => `${url}/${file}`
  const list = textAnswer(plainText, async () =>
    llmsText({
      groups,
      records,
      urlOf,
      install: sectionOf(await readText('docs/install.md'), 'Steps'),
    }),
  )
  const full = textAnswer(plainText, async () => {
    const listed = groups.flatMap(({ pages }) => pages)
    const texts = listed.map(
      async ({ file }) => `<!-- ${urlOf(file)} -->\n\n${await readText(file)}`,
    )
    return (await Promise.all(texts)).join('\n')
  })
  return [
    ['llms.txt', list],
    ['docs/llms.txt', list],
    ['llms-full.txt', full],
  ]
}

const absentPage = (index: string) => ({
  title: 'There is no such page',
  body: html`<h1>There is no such page</h1>
    <p><a href="${index}">The documentation</a> lists all pages.</p>`,
  headings: [],
})
