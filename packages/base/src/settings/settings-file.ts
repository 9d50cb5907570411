/** A settings file: YAML, whose keys are the names of settings in lower case. */
import type { Document, Node, Pair, YAMLMap } from 'yaml'
import { isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml'
import { nearestName } from '../nearest-name.ts'
import { readBoundedText } from './bounded-file.ts'
import { fileValue } from './file-value.ts'
import type { Setting } from './setting.ts'
import { fileKey, secretFileKey } from './setting.ts'

const mostBytes = 1_048_576

/** One value of the file. */
type FileSetting = {
  setting: Setting<unknown>
  /** The key as it stands in the file. */
  key: string
  /** The file and the line of the key. */
  location: string
  /** `text`: the value as the variable would have it. `path`: the file that holds the value. */
  value: { text: string } | { path: string }
}

/** A person reads no more of them, and each unknown key is compared with every known one. */
const mostProblems = 20

export type SettingsFile = {
  entries: readonly FileSetting[]
  /** Each begins with its location. */
  problems: readonly string[]
  /** The settings whose values are refused. */
  refused: ReadonlySet<string>
  /** False: nothing of the file can be believed. */
  isWhole: boolean
}

const unread = (problems: string[]): SettingsFile => ({
  entries: [],
  problems,
  refused: new Set(),
  isWhole: false,
})

/** The parser's own messages quote the file, which may hold secrets. */
const faults: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'a key stands twice: keep one of the two',
  TAB_AS_INDENT: 'a tab cannot indent: use spaces',
  MULTIPLE_DOCS: 'a second document begins here: keep one',
  BAD_INDENT: 'the indentation does not fit the lines above',
  TAG_RESOLVE_FAILED: 'a tag (!) is not taken: write the value without it',
  BAD_ALIAS: 'an alias (*) is not taken: write the value out, or put it in quotes',
  MISSING_CHAR: 'a quote, bracket or colon is missing',
}
const otherFault = 'this is no YAML: look at colons, quotes and indentation'

/** Refuses aliases as well. Attack: what they stand for grows beyond all bounds when it is read. */
function faultsOf(document: Document, locationAt: (offset: number) => string): string[] {
  const found = [...document.errors, ...document.warnings].map(
    ({ code, pos }) => `${locationAt(pos[0])}: ${faults[code] ?? otherFault}`,
  )
  if (found.length > 0) return found
  visit(document, {
    Alias(_, { range }) {
      found.push(`${locationAt(range?.[0] ?? 0)}: ${faults['BAD_ALIAS']}`)
    },
  })
  return found
}

/** A key as a message may show it: what is no name could be a secret on a line that lacks its colon. */
const shownKey = (key: string): string => (/^[a-z_]{1,48}$/i.test(key) ? key : 'this key')

function unknownKey(key: string, known: ReadonlyMap<string, unknown>): string {
  const lower = key.toLowerCase()
  if (known.has(lower)) return `${key} is not a key: write ${lower}`
  const owner = lower.replace(/_file$/, '')
  if (owner !== lower && known.has(owner))
    return `${key} is not a key: ${owner} is no secret, and stands here by itself`
  const near = nearestName(lower, known.keys())
  return `${shownKey(key)} is not a setting; config schema lists them.${near === undefined ? '' : ` Do you mean ${near}?`}`
}

type KnownKey = { setting: Setting<unknown>; isPath: boolean }

const knownKeys = (settings: readonly Setting<unknown>[]): Map<string, KnownKey> =>
  new Map(
    settings.flatMap((setting): [string, KnownKey][] => {
      const whole: [string, KnownKey] = [fileKey(setting), { setting, isPath: false }]
      return setting.secret ? [whole, [secretFileKey(setting), { setting, isPath: true }]] : [whole]
    }),
  )

const wholeText = { type: 'text', schema: {} } as const

function entriesOf(
  document: Document,
  map: YAMLMap,
  {
    known,
    locationOf,
  }: { known: ReadonlyMap<string, KnownKey>; locationOf: (node: unknown) => string },
): SettingsFile {
  const entries = new Map<string, FileSetting>()
  const problems: string[] = []
  const refused = new Set<string>()
  for (const { key: node, value } of map.items as Pair<Node, Node | null>[]) {
    if (problems.length === mostProblems) {
      problems.push('and more: mend these first')
      return { entries: [...entries.values()], problems, refused, isWhole: false }
    }
    const location = locationOf(node)
    const key = isScalar(node) && typeof node.value === 'string' ? node.value : ''
    const found = known.get(key)
    if (!found) {
      problems.push(`${location}: ${unknownKey(key, known)}`)
      continue
    }
    const { setting, isPath } = found
    const read = fileValue(document, value, isPath ? wholeText : setting.inFile)
    const other = entries.get(setting.name)
    const wrong =
      'wrong' in read
        ? read.wrong
        : other && `give the value by this key or by ${other.key}, not by both`
    if (wrong !== undefined) {
      problems.push(`${location}: ${key}: ${wrong}`)
      refused.add(setting.name)
    } else if ('text' in read && read.text !== '')
      entries.set(setting.name, {
        setting,
        key,
        location,
        value: isPath ? { path: read.text } : { text: read.text },
      })
  }
  return { entries: [...entries.values()], problems, refused, isWhole: true }
}

/** `settings`: those that the file may hold. An empty file is one without values. */
export async function readSettingsFile(
  path: string,
  settings: readonly Setting<unknown>[],
): Promise<SettingsFile> {
  const content = await readBoundedText(path, mostBytes)
  if ('why' in content) return unread([`${path} cannot be read: ${content.why}`])
  return parseSettings(path, content.text, settings)
}

export function parseSettings(
  path: string,
  text: string,
  settings: readonly Setting<unknown>[],
): SettingsFile {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, prettyErrors: false })
  const locationAt = (offset: number) => `${path}:${lineCounter.linePos(offset).line || 1}`
  const found = faultsOf(document, locationAt)
  if (found.length > 0) return unread(found)
  const { contents } = document
  const isEmpty = contents === null || (isScalar(contents) && contents.value === null)
  if (isEmpty) return { ...unread([]), isWhole: true }
  if (!isMap(contents))
    return unread([
      `${locationAt(contents.range?.[0] ?? 0)}: the file must hold keys and values, such as port: 8787${isSeq(contents) ? ', and no list' : ''}`,
    ])
  const locationOf = (node: unknown) => locationAt((node as Node).range?.[0] ?? 0)
  return entriesOf(document, contents, { known: knownKeys(settings), locationOf })
}
