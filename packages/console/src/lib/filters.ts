/** One line of filters: `status:running,failed agent:agent_… since:7d`. The same words stand in the address. */
import { words } from './words.ts'

export type FilterField = {
  name: string
  /** The values that it may have; without them, `check` says. */
  values?: readonly string[]
  /** Undefined for a value that can be used; else what a value is. */
  check?: (value: string) => string | undefined
  /** Whether several values may stand, with commas between. */
  isMany?: boolean
}

export type ChosenFilters = Record<string, string>
export type ReadFilter = { filters: ChosenFilters; problem?: string }

/** Adds what the line says to the filters. Nothing of a line with a mistake is taken. */
export function readFilterLine(
  line: string,
  fields: readonly FilterField[],
  before: ChosenFilters,
): ReadFilter {
  const filters = { ...before }
  for (const word of line.trim().split(/\s+/)) {
    if (word === '') continue
    const problem = addWord(word, fields, filters)
    if (problem !== undefined) return { filters: before, problem }
  }
  return { filters }
}

function addWord(
  word: string,
  fields: readonly FilterField[],
  filters: ChosenFilters,
): string | undefined {
  const mark = word.indexOf(':')
  if (mark < 0) return words.filter.bare(word)
  const [name, value] = [word.slice(0, mark), word.slice(mark + 1)]
  const field = fields.find((each) => each.name === name)
  if (!field) return words.filter.unknown(name, fields.map((each) => each.name).join(', '))
  const problem = problemOf(field, value)
  if (problem !== undefined) return problem
  filters[name] = value
  return undefined
}

function problemOf(field: FilterField, value: string): string | undefined {
  for (const each of field.isMany ? value.split(',') : [value]) {
    const known = field.values
    if (known && !known.includes(each))
      return words.filter.noValue(each, field.name, known.join(', '))
    const wanted = each === '' ? field.name : field.check?.(each)
    if (wanted !== undefined) return words.filter.noValue(each, field.name, wanted)
  }
  return undefined
}

/** What could stand at the end of the line, each as the whole word. */
export function completionsOf(line: string, fields: readonly FilterField[]): string[] {
  const word = line.split(/\s+/).at(-1) ?? ''
  const mark = word.indexOf(':')
  if (mark < 0)
    return fields.filter(({ name }) => name.startsWith(word)).map(({ name }) => `${name}:`)
  const field = fields.find(({ name }) => name === word.slice(0, mark))
  const typed = word.slice(mark + 1)
  const last = typed.slice(typed.lastIndexOf(',') + 1)
  const kept = word.slice(0, word.length - last.length)
  return (field?.values ?? [])
    .filter((value) => value.startsWith(last) && value !== last)
    .map((value) => kept + value)
}
