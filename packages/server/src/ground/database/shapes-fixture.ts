/** For tests: databases of all shapes, with the rows of tenants in one database or in one each. */
import type { TestDatabase } from './fixture.ts'
import { databases, dialectsOf, isLongRun, withBus } from './fixture.ts'
import { tenantShapes } from './per-tenant/fixture.ts'

/** A tenant's own database, as `Databases.open` returns it. */
async function ofTenant(open: (typeof tenantShapes)['files']): Promise<TestDatabase> {
  const at = await open(['wrkspc_test'])
  return {
    ...withBus(await at.databases.open('wrkspc_test')),
    [Symbol.asyncDispose]: () => at[Symbol.asyncDispose](),
  }
}

/** A database of each shape. Few test files open all of them. */
export const allShapes: Record<string, () => Promise<TestDatabase>> = {
  ...databases,
  'a file of the tenant': () => ofTenant(tenantShapes.files),
  'a schema of the tenant': () => ofTenant(tenantShapes.schemas),
}

/** For tests of rows of tenants: all shapes in a long run, else each database without databases of tenants. */
export const everyShape = isLongRun ? allShapes : databases

/** For tests above the stores: all shapes in a long run, else the one database that the file always gets. */
export const shapesOf = (file: string): typeof allShapes =>
  isLongRun
    ? allShapes
    : Object.fromEntries(dialectsOf(file).map((dialect) => [dialect, databases[dialect]]))
