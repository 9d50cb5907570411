/**
 * One line of filters: `status:running,failed agent:reviewer since:7d flaky test`. Words without a filter are looked
 * for as text; a value with spaces stands in quotes. The same words stand in the address.
 */
import { matching } from './matching.ts'
import { words } from './words.ts'

export type NamedThing = { id: string; name: string }

export type FilterField = {
  name: string
  /** What it keeps, in a few words. */
  about?: string
  /** The values that it may have; without them, `check` says. */
  values?: readonly string[]
  /** Undefined for a value that can be used; else what a value is. */
  check?: (value: string) => string | undefined
  /** Whether several values may stand, with commas between. */
  isMany?: boolean
  /** Takes the words that name no filter. */
  isText?: boolean
  /** Another filter without which it says nothing. */
  needs?: string
  /** It names one of these, and is kept by its id. */
  things?: FilterThings
}

type FilterThings = {
  isId: (value: string) => boolean
  /** Undefined while they come. */
  all: readonly NamedThing[] | undefined
  /** There are more than `all`: a name that is not among them may still be one. */
  isCut?: boolean
}

export type ChosenFilters = Record<string, string>
export type ReadFilter = { filters: ChosenFilters; problem?: string }

type Fields = readonly FilterField[]

/** The words of a line. A quote holds spaces, and ends with the line at the latest. */
const wordsOf = (line: string): string[] => line.match(/(?:"[^"]*(?:"|$)|[^\s"])+/g) ?? []
const unquoted = (text: string): string => text.replaceAll('"', '')
const quoted = (text: string): string => (/\s/.test(text) ? `"${text}"` : text)

function split(word: string): { name: string | undefined; value: string } {
  const mark = word.indexOf(':')
  const isNamed = mark > 0 && !word.slice(0, mark).includes('"')
  if (!isNamed) return { name: undefined, value: unquoted(word) }
  return { name: word.slice(0, mark), value: unquoted(word.slice(mark + 1)) }
}

/** Adds what the line says to the filters. Nothing of a line with a mistake is taken. */
export function readFilterLine(line: string, fields: Fields, before: ChosenFilters): ReadFilter {
  const filters = { ...before }
  for (const word of wordsOf(line)) {
    const problem = addWord(word, fields, filters)
    if (problem !== undefined) return { filters: before, problem }
  }
  const lonely = fields.find(({ name, needs }) => needs && filters[name] && !filters[needs])
  if (lonely?.needs)
    return { filters: before, problem: words.filter.needs(lonely.name, lonely.needs) }
  return { filters }
}

function addWord(word: string, fields: Fields, filters: ChosenFilters): string | undefined {
  const { name, value } = split(word)
  const text = fields.find((each) => each.isText)
  if (name === undefined && text) {
    const before = filters[text.name]
    filters[text.name] = before === undefined ? value : `${before} ${value}`
    return undefined
  }
  if (name === undefined) return words.filter.bare(word)
  const field = fields.find((each) => each.name === name)
  if (!field) return words.filter.unknown(name, fields.map((each) => each.name).join(', '))
  const problem = problemOf(field, value)
  if (problem !== undefined) return problem
  filters[name] = foundIn(field.things, value).id ?? value
  return undefined
}

function problemOf(field: FilterField, value: string): string | undefined {
  if (value !== '' && field.things) return foundIn(field.things, value, field.name).problem
  for (const each of field.isMany ? value.split(',') : [value]) {
    const known = field.values
    if (known && !known.includes(each))
      return words.filter.noValue(each, field.name, known.join(', '))
    const wanted = each === '' ? field.name : field.check?.(each)
    if (wanted !== undefined) return words.filter.noValue(each, field.name, wanted)
  }
  return undefined
}

const sameName = (one: string, other: string): boolean =>
  one.trim().toLowerCase() === other.trim().toLowerCase()

/** The one thing that a value names: by its id, or by a name that no other has. */
function foundIn(
  things: FilterThings | undefined,
  value: string,
  field = '',
): { id?: string; problem?: string } {
  if (!things?.all || things.isId(value)) return {}
  const named = things.all.filter(({ name }) => sameName(name, value))
  const [one] = named
  if (one && named.length === 1) return { id: one.id }
  if (one) return { problem: words.filter.severalNamed(field, value, named.length) }
  return { problem: words.filter.noneNamed(field, value, things.isCut === true) }
}

export type ResolvedFilters =
  | { filters: ChosenFilters }
  | { isWaiting: true }
  /** `choices`: the things of that name, if there are several. */
  | { problem: string; field: string; choices: readonly NamedThing[] }

/** Filters of an address, which may name things, by ids. */
export function resolveFilters(filters: ChosenFilters, fields: Fields): ResolvedFilters {
  const resolved = { ...filters }
  for (const { name, things } of fields) {
    const value = filters[name]
    if (value === undefined || !things || things.isId(value)) continue
    if (!things.all) return { isWaiting: true }
    const { id, problem } = foundIn(things, value, name)
    const choices = things.all.filter((each) => sameName(each.name, value))
    if (problem !== undefined) return { problem, field: name, choices }
    if (id !== undefined) resolved[name] = id
  }
  return { filters: resolved }
}

/** A value as people read it: things by their names. */
export function shownValue({ things }: FilterField, value: string): string {
  return things?.all?.find(({ id }) => id === value)?.name ?? value
}

/** Without a filter, and without those that say nothing alone. */
export const withoutFilter = (
  filters: ChosenFilters,
  removed: string,
  fields: Fields,
): ChosenFilters =>
  Object.fromEntries(
    Object.entries(filters).filter(
      ([name]) => name !== removed && fields.find((each) => each.name === name)?.needs !== removed,
    ),
  )

export type Completion = {
  /** Stands in place of the last word. */
  word: string
  label: string
  beside?: string
}
type Completions = {
  offered: readonly Completion[]
  /** Nobody has to choose: the line can be taken as it is. */
  isOptional: boolean
}

const mostOffered = 50

/** The last word of the line, which may be unfinished. */
export const lastWord = (line: string): string =>
  /\s$/.test(line) && !isInQuotes(line) ? '' : (wordsOf(line).at(-1) ?? '')

const isInQuotes = (line: string): boolean => line.split('"').length % 2 === 0

/** What could stand at the end of the line. */
export function completionsOf(line: string, fields: Fields): Completions {
  const word = lastWord(line)
  const { name, value } = split(word)
  if (name === undefined) {
    const offered = fields
      .filter((each) => each.name.startsWith(word))
      .map(({ name: each, about }) => ({
        word: `${each}:`,
        label: `${each}:`,
        ...(about !== undefined && { beside: about }),
      }))
    return { offered, isOptional: fields.some(({ isText }) => isText) }
  }
  const field = fields.find((each) => each.name === name)
  if (!field) return { offered: [], isOptional: true }
  return field.things ? thingsFor(field, field.things, value) : valuesFor(field, value)
}

function valuesFor({ name, values = [] }: FilterField, typed: string): Completions {
  const last = typed.slice(typed.lastIndexOf(',') + 1)
  const kept = typed.slice(0, typed.length - last.length)
  const offered = values
    .filter((value) => value.startsWith(last) && value !== last)
    .map((value) => ({ word: `${name}:${kept}${value}`, label: kept + value }))
  return { offered, isOptional: false }
}

/** Things by name. Several of one name have their ids beside them. */
function thingsFor({ name: field }: FilterField, things: FilterThings, typed: string): Completions {
  const all = matching(things.all ?? [], typed, ({ name }) => [name])
  const isOnly = ({ name }: NamedThing) =>
    all.filter((each) => sameName(each.name, name)).length === 1
  const named = all.filter(({ name }) => sameName(name, typed))
  // A whole name that one thing has needs no choice.
  if (named.length === 1) return { offered: [], isOptional: true }
  const offered = all
    .slice(0, mostOffered)
    .map((thing) =>
      isOnly(thing)
        ? { word: `${field}:${quoted(thing.name)}`, label: thing.name }
        : { word: `${field}:${thing.id}`, label: thing.name, beside: thing.id },
    )
  return { offered, isOptional: named.length > 1 }
}
