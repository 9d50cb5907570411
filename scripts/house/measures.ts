import { globSync, readFileSync } from 'node:fs'
import { danglingReferences } from '../../conformance/references.ts'
import { copies } from './copies.ts'
import { floorsOf } from './imports.ts'
import { journeys } from './journeys.ts'
import { repeatedNames, sharedNames, typesOf } from './names.ts'
import { scatteredSettings } from './settings.ts'
import { touchedByResource } from './new-resource.ts'
import type { Source } from './sources.ts'
import { readSources, root } from './sources.ts'

/** `is`: the number of entries in `where`. For a length or a size, `is` is the value, and `where` is where it was measured. */
export type Measure = { name: string; is: number; where: string[]; mend: string }

const counted = (name: string, where: string[], mend: string): Measure => ({
  name,
  is: where.length,
  where,
  mend,
})

/** The largest value, with all places of that value. */
function largest(name: string, of: readonly (readonly [string, number])[], mend: string): Measure {
  const is = Math.max(...of.map(([, size]) => size))
  return { name, is, where: of.filter(([, size]) => size === is).map(([what]) => what), mend }
}

const wings = 'packages/server/src'
const roomsOf = (wing: string): [string, number] => [
  wing,
  globSync('*/', { cwd: `${root}${wings}/${wing}` }).length,
]
const linesOf = (path: string) =>
  readFileSync(`${root}${path}`, 'utf8').trimEnd().split('\n').length

/** Folders that the table row of their wing does not name. */
const untoldRooms = (): string[] =>
  ['AGENTS.md', 'docs/architecture.md'].flatMap((page) => {
    const rows = new Map(
      readFileSync(`${root}${page}`, 'utf8')
        .split('\n')
        .map((line) => [/^\| `([\w-]+)` \|/.exec(line)?.[1], line]),
    )
    return globSync('*/*/', { cwd: `${root}${wings}` })
      .map((folder) => folder.split('/'))
      .filter(([wing = '', room = '']) => !new RegExp(`\\b${room}\\b`).test(rows.get(wing) ?? ''))
      .map(([wing, room]) => `${page}: ${wing}/${room}`)
  })

/** Programs of skills run alone in sandboxes, each with what it needs. */
const programs = /^packages\/skills\/src\/programs\//
/** Names that the console gives to answers of the service: the wire's own. */
const wireNames = 'packages/console/src/lib/api/types.ts'
/** Columns of tables are data, and migrations stay as they were released. */
const schemas = /\/database\/(?:migrations|tables)\//

/** Measures of wings and their rooms. */
function wingMeasures(): Measure[] {
  return [
    largest(
      'rooms in a wing, at most',
      globSync('*/', { cwd: `${root}${wings}` }).map(roomsOf),
      'move a room to the wing that it belongs to, or put two rooms of one noun together',
    ),
    largest(
      'floors in a wing, at most',
      floorsOf(),
      'put rooms that need nothing of each other on one floor of .dependency-cruiser.cjs',
    ),
    counted(
      'folders that a table of wings omits',
      untoldRooms(),
      'name the folder in the row of its wing, in AGENTS.md and docs/architecture.md',
    ),
    counted(
      'existing files that a new resource touches',
      touchedByResource(),
      'let one of these files follow from another (scripts/house/new-resource.ts)',
    ),
  ]
}

/** Measures of the console: one design, in one place. */
const consoleMeasures = (): Measure[] => [
  counted(
    'colours outside of the tokens of the console',
    globSync('packages/console/src/**/*.{ts,tsx,css}', { cwd: root })
      .filter((path) => !/tokens\.css$|\.gen\.ts$|\.test\.ts$/.test(path))
      .filter((path) => colour.test(readFileSync(`${root}${path}`, 'utf8'))),
    'name a token of packages/console/src/styles/tokens.css',
  ),
]
const colour =
  /#[\da-f]{3,8}\b(?=[;'"\s)])|\b(?:rgba?|hsla?|oklch|oklab|lab|lch)\(|\[(?:#|rgb|hsl|oklch)/i

const percentile = (sizes: readonly number[]): number =>
  sizes.toSorted((a, b) => a - b)[Math.floor(sizes.length * 0.9)] ?? 0

const longest = (sources: readonly Source[]): string[] =>
  sources
    .toSorted((a, b) => b.lines.length - a.lines.length)
    .slice(0, 20)
    .map(({ path, lines }) => `${path}: ${lines.length}`)

export function measureHouse(): Measure[] {
  const all = readSources()
  const own = all.filter(({ isTest }) => !isTest)
  const types = typesOf(own.filter(({ path }) => !programs.test(path) && path !== wireNames))
  const told = journeys(own)
  return [
    ...wingMeasures(),
    {
      name: 'lines that nine files in ten stay within',
      is: percentile(own.map(({ lines }) => lines.length)),
      where: longest(own),
      mend: 'move one thought of a long file into a file named for what it does; a lint rule bounds each file at 500',
    },
    {
      name: 'lines of README.md',
      is: linesOf('README.md'),
      where: [],
      mend: 'link to a page of docs/',
    },
    {
      name: 'lines of AGENTS.md',
      is: linesOf('AGENTS.md'),
      where: [],
      mend: 'link to a page of docs/',
    },
    counted(
      'type names exported by several files',
      sharedNames(types),
      'give each type the noun of its own domain: MemoryView and StreamView in place of View',
    ),
    counted(
      'type names in several files',
      repeatedNames(types),
      'give each type the noun of its own domain, exported or not; node scripts/house.ts --lower lowers the budget',
    ),
    counted(
      'references that lead nowhere',
      danglingReferences(),
      'cite a requirement of docs/interface.md as [its/id], or say the fact',
    ),
    counted(
      'settings stated in several files',
      scatteredSettings(own),
      'read the setting where it is declared',
    ),
    counted(
      'runs of six lines that stand twice',
      copies(own.filter(({ path }) => !programs.test(path) && !schemas.test(path))),
      'let one function serve both places where the logic is the same',
    ),
    ...consoleMeasures(),
    counted(
      'legs of a journey that lead nowhere',
      told.flatMap(({ lost }) => lost),
      'name the entry and the end of the leg in scripts/house/journeys.ts as they are now',
    ),
    ...told.flatMap(({ title, lines, files }): Measure[] => [
      {
        name: `lines: ${title}`,
        is: lines,
        where: files,
        mend: 'shorten the files of the journey (scripts/house/journeys.ts)',
      },
      {
        name: `files: ${title}`,
        is: files.length,
        where: files,
        mend: 'join what one act is split into (scripts/house/journeys.ts)',
      },
    ]),
  ]
}
