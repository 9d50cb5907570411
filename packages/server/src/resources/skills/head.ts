/** The head of a SKILL.md: YAML between two lines of dashes. [skills/create/json] */
import { isUtf8 } from 'node:buffer'
import { invalid } from '../../ground/core/errors.ts'

export type SkillHead = { name: string; description: string }

const longestHead = 16 * 1024
/** Characters other than letters, digits and spaces: each may begin a key or a mistake, and keys are compared in pairs. */
const mostSigns = 2_000
const longestDescription = 1024
const dashes = /^---[ \t]*\r?\n([\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n|$)/

/** The text after the head; the whole text when there is no head. */
export const skillBody = (text: string): string => plain(text).replace(dashes, '')

const plain = (text: string): string => text.replace(/^\uFEFF/, '')

/** `given` replaces a missing description. Throws when the head is invalid. */
export async function readSkillHead(skillFile: Uint8Array, given?: string): Promise<SkillHead> {
  if (!isUtf8(skillFile)) throw invalid('SKILL.md: is not UTF-8')
  const text = plain(Buffer.from(skillFile).toString('utf8'))
  const [, head] = dashes.exec(text) ?? []
  if (head === undefined)
    throw invalid(
      'SKILL.md: must begin with a head between two lines of ---, with name and description',
    )
  if (head.length > longestHead)
    throw invalid(`SKILL.md: its head is longer than ${longestHead} characters`)
  if (head.replace(/[\p{L}\p{M}\p{N} ]+/gu, '').length > mostSigns)
    throw invalid(
      `SKILL.md: its head may hold ${mostSigns} characters other than letters, digits and spaces; move text below the head`,
    )
  const fields = await fieldsOf(head)
  return { name: nameIn(fields), description: descriptionIn(fields, given) }
}

async function fieldsOf(head: string): Promise<Record<string, unknown>> {
  // Loaded with the first skill: a server that reads none starts without its modules.
  const { parse } = await import('yaml')
  let fields: unknown
  try {
    // Attack: the library writes a key that is a map or a list as text, and takes hours for keys within keys.
    const options = { stringKeys: true, maxAliasCount: 0, logLevel: 'error' } as const
    fields = parse(head, { schema: 'core', ...options })
  } catch (cause) {
    const [first] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    const why = first?.replace(/:$/, '') ?? ''
    const remedy = why.startsWith('Nested mappings') ? '; put a text that holds ": " in quotes' : ''
    throw Object.assign(invalid(`SKILL.md: its head is not YAML: ${why}${remedy}`), { cause })
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw invalid('SKILL.md: its head must have name and description')
  return fields as Record<string, unknown>
}

function nameIn({ name }: Record<string, unknown>): string {
  if (typeof name !== 'string') throw invalid('SKILL.md: name: is required in the head, as text')
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name))
    throw invalid('SKILL.md: name: is 1 to 64 lower-case letters, digits and hyphens')
  if (/anthropic|claude/.test(name))
    throw invalid('SKILL.md: name: may not hold the reserved words anthropic and claude')
  return name
}

function descriptionIn({ description = null }: Record<string, unknown>, given = ''): string {
  if (description !== null && typeof description !== 'string')
    throw invalid('SKILL.md: description: must be text')
  const text = (description ?? given).trim()
  if (text === '') throw invalid('SKILL.md: description: is required in the head')
  if (text.length > longestDescription)
    throw invalid(`SKILL.md: description: is at most ${longestDescription} characters`)
  if (text.includes('\0') || !text.isWellFormed())
    throw invalid('SKILL.md: description: may not hold NUL characters or half characters')
  return text
}
