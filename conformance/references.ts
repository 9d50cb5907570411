/** Checks references in comments, docs and messages: requirement ids, files and headings must exist. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isRequirement } from './citations.ts'

type CheckedPage = { path: string; text: string }

const root = fileURLToPath(new URL('../', import.meta.url))
const codeFiles = '{packages/*/src,conformance,bench,scripts}/**/*.{ts,mjs,c,h,sh}'
const docFiles = '{docs/**/*.md,*.md}'

/** Names of files that skills and the repositories of agents contain. */
const foreignFiles = new Set(['SKILL.md', 'CLAUDE.md'])

const blockComments = /(?<=^|[ \t])\/\*[\s\S]*?\*\//gm
const lineComments = /^\s*(?:\/\/|#(?!!|include|define|if|endif|else)).*$/gm
const requirement = /\[([a-z][a-z0-9-]*(?:\/[a-z0-9-]+)+)\](?!\()/g
/** The name of a document, with the number of a heading when one follows. */
const document =
  /(?<![\w*<>])((?:[\w.-]+\/)*[\w-]+\.md)(?:,? (?:sections? |chapters? )?(\d+(?:\.\d+)?)\b)?/g
/** A document that a message names, by its path from the root of the repository. */
const namedDocument = /(?<![\w./-])docs\/(?:[\w-]+\/)*[\w-]+\.md\b/g
const link = /\]\(([^)\s]+)\)/g
/** A source file with at least one folder. The name `x` is a placeholder. */
const sourceFile = /(?<![\w./*<>:@-])((?:[\w-][\w.-]*\/)+[\w.-]+\.(?:ts|cjs|sh))\b/g
const placeholder = /(?:^|\/)x(?:[./]|$)|^path\/to\//
const ownNumber = /\((\d{1,2}\.\d{1,2})\)|\bsections? (\d{1,2}(?:\.\d{1,2})?)\b/g

const isDoc = (path: string): boolean => path.endsWith('.md')

/** The anchor that code hosts generate for a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const headingsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.trim())

function commentsOf({ path, text }: CheckedPage): string {
  if (isDoc(path)) return text
  // Its comments are the examples of the interface.
  if (path.endsWith('.gen.ts')) return ''
  return [...text.matchAll(blockComments), ...text.matchAll(lineComments)]
    .map(([comment]) => comment)
    .join('\n')
}

/** `paths`: all files of the repository, relative to its root. */
export function referenceChecker(paths: readonly string[], read: (path: string) => string) {
  const files = new Set(paths)
  const endings = new Set(
    paths.flatMap((path) => {
      const parts = path.split('/')
      return parts.flatMap((_, from) => {
        const ending = parts.slice(from).join('/')
        return [ending, ending.replace('/src/', '/')]
      })
    }),
  )

  const resolve = (from: string, target: string): string | undefined =>
    [
      posix.join(posix.dirname(from), target),
      posix.join('docs', target),
      posix.normalize(target),
    ].find((path) => files.has(path))

  function documentProblem(from: string, name: string, number: string | undefined) {
    if (foreignFiles.has(posix.basename(name))) return undefined
    const path = resolve(from, name)
    if (path === undefined) return 'no such document'
    if (number === undefined) return undefined
    const numbered = headingsOf(read(path)).some((title) => title.startsWith(`${number} `))
    return numbered ? undefined : 'no heading has this number'
  }

  function linkProblem(from: string, target: string) {
    if (/^[a-z]+:/.test(target)) return undefined
    const [file = '', anchor] = target.split('#')
    const path = file === '' ? from : posix.join(posix.dirname(from), file)
    if (!files.has(path) && !paths.some((each) => each.startsWith(`${path.replace(/\/$/, '')}/`)))
      return 'no such file'
    if (anchor === undefined) return undefined
    return headingsOf(read(path)).some((title) => anchorOf(title) === anchor)
      ? undefined
      : 'no such heading'
  }

  type Problem = [reference: string, problem: string | undefined]

  function* inProse(from: string, prose: string): Generator<Problem> {
    for (const [whole, id = ''] of prose.matchAll(requirement))
      yield [whole, isRequirement(id) ? undefined : 'no such requirement']
    const withoutLinks = prose.replaceAll(link, '')
    for (const [whole, name = '', number] of withoutLinks.matchAll(document))
      yield [whole, documentProblem(from, name, number)]
    for (const [whole, file = ''] of withoutLinks.matchAll(sourceFile))
      yield [whole, endings.has(file) || placeholder.test(file) ? undefined : 'no such file']
  }

  /** Excludes tests, which name documents that do not exist. */
  function* inMessages({ path, text }: CheckedPage): Generator<Problem> {
    if (isDoc(path) || path.endsWith('.test.ts')) return
    const code = text.replaceAll(blockComments, '').replaceAll(lineComments, '')
    for (const [whole] of code.matchAll(namedDocument))
      yield [whole, files.has(whole) ? undefined : 'no such document']
  }

  function* inDocs(from: string, prose: string): Generator<Problem> {
    for (const [whole, target = ''] of prose.matchAll(link))
      yield [whole, linkProblem(from, target)]
    if (from !== 'docs/interface.md') return
    for (const [whole, inBrackets, behindWord] of prose.matchAll(ownNumber))
      yield [whole, documentProblem(from, 'interface.md', inBrackets ?? behindWord)]
  }

  /** Returns the dangling references of a page, each with the reason. */
  return function dangling({ path, text }: CheckedPage): string[] {
    const prose = commentsOf({ path, text })
    const found = [
      ...inProse(path, prose),
      ...(isDoc(path) ? inDocs(path, prose) : []),
      ...inMessages({ path, text }),
    ]
    return found.flatMap(([reference, problem]) =>
      problem === undefined ? [] : [`${path}: ${reference}: ${problem}`],
    )
  }
}

/** Returns all dangling references in comments, docs and messages of the repository. */
export function danglingReferences(): string[] {
  const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')
  const among = (pattern: string) =>
    globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] })
  // What is generated repeats sentences that are checked where they were written.
  const written = among(codeFiles).filter((path) => !path.endsWith('.gen.ts'))
  const pages = [...written, ...among(docFiles)]
  const others = ['package.json', 'LICENSE', 'test', 'try'].filter((name) =>
    existsSync(`${root}${name}`),
  )
  const figures = among('docs/{figures/*,pictures/*,*.json,*.yaml}')
  const dangling = referenceChecker([...pages, ...figures, ...others], read)
  return pages.flatMap((path) => dangling({ path, text: read(path) }))
}
