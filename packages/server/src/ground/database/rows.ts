/** Rows of one table by tenant and id. Their JSON is decoded where they are read, and encoded where they are written. */
import { iso } from '@steward/base/time.ts'
import type { RawBuilder, SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
import { isAudited, tellChange } from '../core/audited-call.ts'
import { notFound, recordText } from '../core/errors.ts'
import type { Json } from '../core/json-text.ts'
import { fromJson, toJson } from '../core/json-text.ts'
import type { Listing, Paging } from '../core/page.ts'
import { listingOf } from '../core/page.ts'
import type { Queries, Reads } from './database.ts'
import { readPage, weightOf } from './listing.ts'
import { dialectOf } from './dialect.ts'
import { holding, taking } from './lock.ts'
import type { RowOf, TableFacts } from './row-facts.ts'
import { tables } from './row-facts.ts'
import type { Moment } from './seek.ts'
import type { SlotFor } from './statement.ts'
import { byForm, insertRows, statement } from './statement.ts'
import type { Tables } from './tables.ts'

export type { RowOf } from './row-facts.ts'

type RowTable = keyof typeof tables

const jsonColumns: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(tables).map(([name, { json }]) => [name, Object.keys(json)]),
)

export type RowQuery<Table extends RowTable> = SelectQueryBuilder<Tables, Table, Tables[Table]>

export type ListFilter = {
  /** With archived rows, or those alone; of a table that has an `archived_at`. */
  archived?: boolean | 'only'
  made?: readonly Moment[]
  /** Pairs that the metadata has, all of them; of a table that has `metadata`. */
  metadata?: readonly (readonly [key: string, value: string])[]
}

/** Adds conditions, or an order. */
type Narrow<Table extends RowTable> = (query: RowQuery<Table>) => RowQuery<Table>

/** Throws `not_found` for a row that is absent or another tenant's. */
export interface ReadableRows<Table extends RowTable> {
  get(tenant: string, id: string): Promise<RowOf<Table>>
  /** As `get`; undefined for a row that is not there. */
  find(tenant: string, by: string | Narrow<Table>): Promise<RowOf<Table> | undefined>
  all(tenant: string, narrow: Narrow<Table>): Promise<RowOf<Table>[]>
  list(
    tenant: string,
    paging: Paging,
    filter?: ListFilter & { where?: Narrow<Table> },
  ): Promise<Listing<RowOf<Table>>>
}

export interface Rows<Table extends RowTable> extends ReadableRows<Table> {
  /** As `get`; the row stays as it is until the transaction ends. */
  hold(tenant: string, id: string): Promise<RowOf<Table>>
  /** As `get`; nobody else changes the row until the transaction ends. */
  take(tenant: string, id: string): Promise<RowOf<Table>>
  /** As `take`; undefined for a row that is not there. */
  takeIfAny(tenant: string, by: string | Narrow<Table>): Promise<RowOf<Table> | undefined>
  /** Returns the row that was given. */
  insert(row: RowOf<Table>): Promise<RowOf<Table>>
  /** Returns `kept` with the changed columns. */
  update(kept: RowOf<Table>, columns: Partial<RowOf<Table>>): Promise<RowOf<Table>>
  archive(
    kept: RowOf<Table> & { archived_at: string | null; updated_at: string },
    now: number,
  ): Promise<RowOf<Table>>
  remove(tenant: string, id: string): Promise<void>
}

export function rows<Table extends RowTable>(tx: Queries, table: Table): Rows<Table>
export function rows<Table extends RowTable>(db: Reads, table: Table): ReadableRows<Table>
export function rows<Table extends RowTable>(db: Reads, table: Table): object {
  return new TableRows(db as Queries, table as Sample)
}

/** Stands for every table in the types of the queries below, which name only columns that all of them have. */
type Sample = 'vaults'
type Row = RowOf<Sample>
type Stored = Tables[Sample]

/** Quotes are escaped within any text of the JSON: behind its brace or a comma, this is the pair itself. */
function holdsPair(db: Queries, [key, value]: readonly [string, string]): RawBuilder<boolean> {
  const text = JSON.stringify({ [key]: value }).slice(1, -1)
  const place = sql.raw(dialectOf(db) === 'sqlite' ? 'instr' : 'strpos')
  return sql<boolean>`(${place}(metadata, ${`{${text}`}) = 1 or ${place}(metadata, ${`,${text}`}) > 0)`
}

type Access = 'read' | 'hold' | 'take'

function accessed(db: Queries, query: RowQuery<Sample>, access: Access): RowQuery<Sample> {
  if (access === 'read') return query
  return access === 'hold' ? holding(db, query) : taking(db, query)
}

function rowsOfTenant(
  db: Queries,
  table: Sample,
  tenant: string | RawBuilder<string>,
): RowQuery<Sample> {
  const facts: TableFacts<Sample> = tables[table]
  const query = db.selectFrom(table).selectAll().where('tenant_id', '=', tenant)
  return facts.isHidden ? query.where(sql<boolean>`deleted_at is null`) : query
}

/** By table and access. */
const rowById = byForm((form: `${Sample} ${Access}`) => {
  const [table, access] = form.split(' ') as [Sample, Access]
  const build = (db: Queries, slot: SlotFor<{ tenant: string; id: string }>) => {
    const tenant = slot((row) => row.tenant)
    const id = slot((row) => row.id)
    return accessed(db, rowsOfTenant(db, table, tenant).where('id', '=', id), access)
  }
  return statement(build)
})

/** Rows of a tenant by conditions that take values. Built once for each database. */
export function rowsBy<Table extends RowTable, Values>(
  table: Table,
  narrow: (query: RowQuery<Table>, slot: SlotFor<Values>) => RowQuery<Table>,
): (db: Reads, tenant: string, values: Values) => Promise<RowOf<Table>[]>
export function rowsBy<Values>(
  table: Sample,
  narrow: (query: RowQuery<Sample>, slot: SlotFor<Values>) => RowQuery<Sample>,
) {
  type Given = { tenant: string; values: Values }
  // Without a name, because migrations change what `*` stands for.
  const run = statement(
    (db: Queries, slot: SlotFor<Given>) =>
      narrow(
        rowsOfTenant(
          db,
          table,
          slot(({ tenant }) => tenant),
        ),
        (pick) => slot(({ values }) => pick(values)),
      ),
    { isNamed: false },
  )
  return async (db: Reads, tenant: string, values: Values) =>
    (await run(db as Queries, { tenant, values })).map((row) => decode(table, row))
}

/** A plain object: the rows of SQLite's driver have no prototype. */
function decode(table: Sample, row: Stored): Row {
  const values: Record<string, unknown> = { ...row }
  for (const column of jsonColumns.get(table) ?? [])
    values[column] = fromJson(values[column] as Json<unknown> | null)
  return values as Row
}

class TableRows implements Rows<Sample> {
  readonly #db: Queries
  readonly #table: Sample
  readonly #facts: TableFacts<Sample>

  constructor(db: Queries, table: Sample) {
    this.#db = db
    this.#table = table
    this.#facts = tables[table]
  }

  get(tenant: string, id: string): Promise<Row> {
    return this.#one(tenant, id, 'read')
  }

  hold(tenant: string, id: string): Promise<Row> {
    return this.#one(tenant, id, 'hold')
  }

  take(tenant: string, id: string): Promise<Row> {
    return this.#one(tenant, id, 'take')
  }

  find(tenant: string, by: string | Narrow<Sample>): Promise<Row | undefined> {
    return this.#first(tenant, by, 'read')
  }

  takeIfAny(tenant: string, by: string | Narrow<Sample>): Promise<Row | undefined> {
    return this.#first(tenant, by, 'take')
  }

  async all(tenant: string, narrow: Narrow<Sample>): Promise<Row[]> {
    const found = await narrow(rowsOfTenant(this.#db, this.#table, tenant)).execute()
    return found.map((row) => decode(this.#table, row))
  }

  async list(
    tenant: string,
    paging: Paging,
    {
      archived = true,
      made = [],
      metadata = [],
      where,
    }: ListFilter & { where?: Narrow<Sample> } = {},
  ): Promise<Listing<Row>> {
    const all = rowsOfTenant(this.#db, this.#table, tenant)
    let query = where ? where(all) : all
    if (archived !== true)
      query = query.where('archived_at', archived === 'only' ? 'is not' : 'is', null)
    for (const { op, at } of made) query = query.where('created_at', op, at)
    for (const pair of metadata) query = query.where(holdsPair(this.#db, pair))
    const found = await readPage(tenant, query, paging, weightOf(...this.#facts.long))
    return listingOf(found, (row) => decode(this.#table, row))
  }

  async insert(row: Row): Promise<Row> {
    await insertRows(this.#db, this.#table, [this.#encoded(row)])
    this.#tell(row.id, { after: row })
    return row
  }

  async update(kept: Row, columns: Partial<Row>): Promise<Row> {
    await this.#db
      .updateTable(this.#table)
      .set(this.#encoded(columns))
      .where('tenant_id', '=', kept.tenant_id)
      .where('id', '=', kept.id)
      .execute()
    this.#tell(kept.id, { before: kept, after: { ...kept, ...columns } })
    return { ...kept, ...columns }
  }

  archive(kept: Row, now: number): Promise<Row> {
    return this.update(kept, { archived_at: iso(now), updated_at: iso(now) })
  }

  async remove(tenant: string, id: string): Promise<void> {
    await this.#db
      .deleteFrom(this.#table)
      .where('tenant_id', '=', tenant)
      .where('id', '=', id)
      .execute()
  }

  /** For the audit, with the fields of a record beside the columns. */
  #tell(id: string, change: { before?: Row; after?: Row }): void {
    if (!isAudited()) return
    const type = this.#facts.noun.replaceAll(' ', '_')
    const before = change.before && this.#clear(change.before)
    const after = change.after && this.#clear(change.after)
    tellChange({ type, id, ...(before && { before }), ...(after && { after }) })
  }

  #clear(row: Row): Record<string, unknown> {
    const fields: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(row)) {
      if (Object.hasOwn(this.#facts.sealed, name)) continue
      const isRecord = Reflect.get(this.#facts.json, name) === 'record'
      if (isRecord && typeof value === 'object') Object.assign(fields, value)
      else fields[name] = value
    }
    return fields
  }

  async #one(tenant: string, id: string, access: Access): Promise<Row> {
    const found = await this.#first(tenant, id, access)
    if (!found) throw notFound(this.#facts.noun, id)
    return found
  }

  async #first(
    tenant: string,
    by: string | Narrow<Sample>,
    access: Access,
  ): Promise<Row | undefined> {
    const [found] =
      typeof by === 'string'
        ? await rowById(`${this.#table} ${access}`)(this.#db, { tenant, id: by })
        : await accessed(
            this.#db,
            by(rowsOfTenant(this.#db, this.#table, tenant)),
            access,
          ).execute()
    return found && decode(this.#table, found)
  }

  /** Columns that are not given stay away. */
  #encoded<Columns extends Partial<Row>>(columns: Columns) {
    const values: Record<string, unknown> = { ...columns }
    for (const [column, kind] of Object.entries(this.#facts.json)) {
      const value = values[column]
      if (value === undefined || value === null) continue
      values[column] = kind === 'record' ? recordText(this.#facts.noun, value) : toJson(value)
    }
    return values as { [Column in keyof Columns & keyof Stored]: Stored[Column] }
  }
}
