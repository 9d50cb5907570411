/** The fields of a change in an audit line: at most 64, none of them long, and none sealed. */
import { hash } from 'node:crypto'
import type { AuditFields } from '../core/security/audited-call.ts'

/** Longest JSON of a value, in characters, that a line holds as it is. */
const longestValue = 256
const mostFields = 64

/** Stands for a long value. It shows whether two values are the same, and nothing else. */
const digestOf = (text: string) => ({
  sha256: hash('sha256', text),
  length: text.length,
})

/** Fields that say nothing about a change. */
const unsaid = new Set(['updated_at', 'tenant_id', 'id', 'type'])

/** User name, password and query of a URL in JSON, any of which may hold a secret. */
const urlSecrets = /(https?:\/\/)(?:[^\s"/?#]*@)?([^\s"?#]*)(?:\?[^\s"#]*)?/gi

function textOf(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  // The search is the most costly step, and few values hold a URL.
  if (!text.includes('://')) return text
  return text.replaceAll(
    urlSecrets,
    (url: string, scheme: string, rest: string) =>
      `${scheme}${rest}${url.includes('?') ? '?…' : ''}`,
  )
}

function bounded(fields: readonly (readonly [string, string])[]): string | null {
  if (fields.length === 0) return null
  const shown = fields.slice(0, mostFields).map(([name, text]) => {
    const value = text.length <= longestValue ? text : JSON.stringify(digestOf(text))
    return `${JSON.stringify(name.slice(0, longestValue))}:${value}`
  })
  if (fields.length > mostFields) shown.push(`"…":"${fields.length - mostFields} more"`)
  return `{${shown.join(',')}}`
}

type FieldStates = { before?: AuditFields | null; after?: AuditFields | null }

/** The fields that differ, as JSON. For a created or removed resource: the fields that have a value. */
export function changedFields({ before, after }: FieldStates): {
  before_fields: string | null
  after_fields: string | null
} {
  const names = new Set(before ? Object.keys(before) : [])
  for (const name of after ? Object.keys(after) : []) names.add(name)
  const old: [string, string][] = []
  const now: [string, string][] = []
  for (const name of names) {
    if (unsaid.has(name) || before?.[name] === after?.[name]) continue
    const [was, is] = [textOf(before?.[name]), textOf(after?.[name])]
    if (was === is) continue
    if (before) old.push([name, was])
    if (after) now.push([name, is])
  }
  return { before_fields: bounded(old), after_fields: bounded(now) }
}
