/** For tests: databases of all shapes, with the rows of tenants together or apart. */
import type { TestDatabase } from './fixture.ts'
import { databases, dialectsOf, isLongRun } from './fixture.ts'
import { shapes } from './per-tenant/fixture.ts'

/** A tenant's own database, as callers of `Databases.open` hold it. */
async function ofTenant(open: (typeof shapes)['files']): Promise<TestDatabase> {
  const at = await open(['wrkspc_test'])
  return {
    database: await at.databases.open('wrkspc_test'),
    [Symbol.asyncDispose]: () => at[Symbol.asyncDispose](),
  }
}

/** A database of each shape, which `npm test` opens in few files. */
export const allShapes: Record<string, () => Promise<TestDatabase>> = {
  ...databases,
  'a file of the tenant': () => ofTenant(shapes.files),
  'a schema of the tenant': () => ofTenant(shapes.schemas),
}

/** For tests of rows of tenants: all shapes in `npm run test:long` and where files are named, else one database alone. */
export const everyShape = isLongRun ? allShapes : databases

/** For tests above the stores: all shapes in a long run, else one of the two databases, which is always the same for a file. */
export const shapesOf = (file: string): typeof allShapes =>
  isLongRun
    ? allShapes
    : Object.fromEntries(dialectsOf(file).map((dialect) => [dialect, databases[dialect]]))
