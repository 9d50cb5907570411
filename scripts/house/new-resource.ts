/** The files of the first commit of a new resource, a URL noun of its own. */
import { globSync, readFileSync } from 'node:fs'
import { root } from './sources.ts'

type ResourceFile = { path: string; holds: string }
/** `known`: what the file says of a resource that is there, so that the list stays true. */
type TouchedFile = ResourceFile & { known: RegExp }

const server = 'packages/server/src'
const database = `${server}/ground/database`

/** Code that each new resource changes. */
export const touchedFiles: readonly TouchedFile[] = [
  {
    path: `${server}/ground/core/text/ids.ts`,
    holds: 'the prefix of its ids',
    known: /model_card: /,
  },
  {
    path: `${database}/tables.ts`,
    holds: 'the name of its declaration',
    known: /modelCardTables,/,
  },
  { path: `${database}/migrate.ts`, holds: 'its migration', known: /0001-tables/ },
  { path: `${server}/surfaces/v1/app.ts`, holds: 'its routes', known: /modelCardRoutes\(/ },
  {
    path: 'conformance/isolation-paths.ts',
    holds: 'an id for each of its paths, which another workspace may not reach',
    known: /model_cards\/:id/,
  },
]

/** Pages that tests compare with the code. */
export const touchedPages: readonly ResourceFile[] = [
  { path: 'docs/interface.md', holds: 'its section with requirement ids' },
  { path: 'docs/decisions/0034-what-removes-rows.md', holds: 'what removes its rows' },
  { path: 'AGENTS.md', holds: 'the name of its folder, and so does docs/architecture.md' },
]

/** `name`: the plural of the noun as a folder, such as `model-cards`. */
export function newFiles(name: string): ResourceFile[] {
  const numbers = globSync(`${root}${database}/migrations/[0-9]*.ts`).map((path) =>
    Number(/(\d+)-[^/]*$/.exec(path)?.[1]),
  )
  const next = String(Math.max(...numbers) + 1).padStart(4, '0')
  return [
    { path: `packages/protocol/src/${name}.ts`, holds: 'schemas with sentences and an example' },
    {
      path: `${database}/tables/${name}.ts`,
      holds: 'its table: columns, key, whose rows they are, and what removes them',
    },
    { path: `${database}/migrations/${next}-${name}.ts`, holds: 'its table, on both databases' },
    { path: `${server}/resources/${name}/store.ts`, holds: 'rows' },
    { path: `${server}/resources/${name}/routes.ts`, holds: 'HTTP' },
    { path: `conformance/scenarios/${name}.test.ts`, holds: 'what its section promises' },
  ]
}

/** The existing code that a new resource touches. Throws where the list is no longer true. */
export function touchedByResource(): string[] {
  const stale = touchedFiles.filter(
    ({ path, known }) => !known.test(readFileSync(`${root}${path}`, 'utf8')),
  )
  if (stale.length > 0)
    throw new Error(
      `scripts/house/new-resource.ts names files that say nothing of a resource: ${stale.map(({ path }) => path).join(', ')}`,
    )
  return touchedFiles.map(({ path, holds }) => `${path}: ${holds}`)
}
