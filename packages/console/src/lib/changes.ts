/** What a form changes of a thing. */
import { useState } from 'react'

export const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null)

/** What differs from before. A field that was removed is null, or an empty list where the field is one. */
export function changesIn<Draft extends object>(
  fields: readonly (keyof Draft & string)[],
  before: Draft,
  draft: Draft,
): Partial<Draft> {
  const changed = fields.filter((field) => !isSame(before[field], draft[field]))
  const entries = changed.map((field): [string, unknown] => [
    field,
    draft[field] ?? (Array.isArray(before[field]) ? [] : null),
  ])
  return Object.fromEntries(entries) as Partial<Draft>
}

export type RecordForm<Row, Draft> = {
  /** The thing as the form began with it. */
  base: Row
  draft: Draft
  setDraft: (draft: Draft) => void
  isChanged: boolean
  /** Begins again with this. */
  begin: (row: Row) => void
  /** It was saved from this draft: what was written since stays. */
  take: (saved: Row, sent: Draft) => void
}

/** What was written stays when somebody else changes the thing; without changes the form follows. */
export function useRecordForm<Row extends { updated_at: string }, Draft extends object>(
  row: Row,
  draftOf: (row: Row) => Draft,
): RecordForm<Row, Draft> {
  const [base, setBase] = useState(row)
  const [draft, setDraft] = useState(() => draftOf(row))
  const begin = (next: Row) => {
    setBase(next)
    setDraft(draftOf(next))
  }
  const take = (saved: Row, sent: Draft) => {
    setBase(saved)
    setDraft((now) => (now === sent ? draftOf(saved) : now))
  }
  const isChanged = !isSame(draftOf(base), draft)
  if (row.updated_at !== base.updated_at && !isChanged) begin(row)
  return { base, draft, isChanged, setDraft, begin, take }
}
