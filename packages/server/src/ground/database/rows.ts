/** Rows of one table by tenant and id. Reads decode JSON columns, writes encode them. */
import { iso } from '@steward/base/time.ts'
import type { RawBuilder, SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
import { isAudited, auditChange } from '../core/security/audited-call.ts'
import { notFound, recordText } from '../core/errors.ts'
import type { Json } from '../core/text/json-text.ts'
import { fromJson, toJson } from '../core/text/json-text.ts'
import type { Listing, Paging } from '../core/text/page.ts'
import { mapListing } from '../core/text/page.ts'
import type { Connection, Reads } from './database.ts'
import { readPage, rowWeight } from './listing.ts'
import { dialectOf } from './dialect.ts'
import { forShare, forUpdate } from './lock.ts'
import type { TimeComparison } from './page-order.ts'
import type { SlotFor } from './statement.ts'
import { statementByForm, insertRows, statement } from './statement.ts'
import type { RowOf, RowTable, TableName, Tables } from './tables.ts'
import { declarationOf, tableNames } from './tables.ts'

export type { RowOf } from './tables.ts'

/** What the declaration of a table says about its columns, by names. */
type TableFacts = {
  noun: string
  isHidden: boolean
  json: ReadonlyMap<string, 'record' | 'value'>
  sealed: ReadonlySet<string>
  long: readonly string[]
}

function readFacts(name: TableName): TableFacts {
  const { noun = name, isHidden = false, columns } = declarationOf(name)
  const all = Object.entries(columns)
  return {
    noun,
    isHidden,
    json: new Map(all.flatMap(([column, { json }]) => (json ? [[column, json]] : []))),
    sealed: new Set(all.flatMap(([column, { isSealed }]) => (isSealed ? [column] : []))),
    long: all.flatMap(([column, { isLong }]) => (isLong ? [column] : [])),
  }
}

const knownFacts = new Map(tableNames.map((name) => [name, readFacts(name)]))
const factsOf = (name: TableName): TableFacts => knownFacts.get(name) ?? readFacts(name)

export type RowQuery<Table extends RowTable> = SelectQueryBuilder<Tables, Table, Tables[Table]>

export type ListFilter = {
  /** True: with archived rows (the default). `only`: archived rows only. For tables with `archived_at`. */
  archived?: boolean | 'only'
  made?: readonly TimeComparison[]
  /** Pairs that the metadata must all have. For tables with `metadata`. */
  metadata?: readonly (readonly [key: string, value: string])[]
}

/** Adds conditions, or an order, to a query. */
type RowCondition<Table extends RowTable> = (query: RowQuery<Table>) => RowQuery<Table>

/** Reads of one table. `get` throws `not_found` for a row that is absent or belongs to another tenant. */
export interface ReadableRows<Table extends RowTable> {
  get(tenant: string, id: string): Promise<RowOf<Table>>
  /** Like `get`. Undefined for an absent row. */
  find(tenant: string, by: string | RowCondition<Table>): Promise<RowOf<Table> | undefined>
  all(tenant: string, narrow: RowCondition<Table>): Promise<RowOf<Table>[]>
  list(
    tenant: string,
    paging: Paging,
    filter?: ListFilter & { where?: RowCondition<Table> },
  ): Promise<Listing<RowOf<Table>>>
}

export interface Rows<Table extends RowTable> extends ReadableRows<Table> {
  /** Like `get`. Nobody changes the row until the transaction ends. */
  getForShare(tenant: string, id: string): Promise<RowOf<Table>>
  /** Like `get`. Locks the row for this transaction, which may change it. */
  getForUpdate(tenant: string, id: string): Promise<RowOf<Table>>
  /** Like `getForUpdate`. Undefined for an absent row. */
  findForUpdate(tenant: string, by: string | RowCondition<Table>): Promise<RowOf<Table> | undefined>
  /** Returns the given row. */
  insert(row: RowOf<Table>): Promise<RowOf<Table>>
  /** Returns `kept` with the changed columns. */
  update(kept: RowOf<Table>, columns: Partial<RowOf<Table>>): Promise<RowOf<Table>>
  archive(
    kept: RowOf<Table> & { archived_at: string | null; updated_at: string },
    now: number,
  ): Promise<RowOf<Table>>
  remove(tenant: string, id: string): Promise<void>
}

export function rows<Table extends RowTable>(tx: Connection, table: Table): Rows<Table>
export function rows<Table extends RowTable>(db: Reads, table: Table): ReadableRows<Table>
export function rows<Table extends RowTable>(db: Reads, table: Table): object {
  return new TableRows(db as Connection, table as SampleTable)
}

/** Stands for every table in the types of the queries below, which use only columns that all tables have. */
type SampleTable = 'vaults'
type SampleRow = RowOf<SampleTable>
type StoredRow = Tables[SampleTable]

/** Finds a pair in JSON text. Texts in JSON escape quotes, so after a brace or a comma only the pair itself matches. */
function holdsPair(db: Connection, [key, value]: readonly [string, string]): RawBuilder<boolean> {
  const text = JSON.stringify({ [key]: value }).slice(1, -1)
  const offset = sql.raw(dialectOf(db) === 'sqlite' ? 'instr' : 'strpos')
  return sql<boolean>`(${offset}(metadata, ${`{${text}`}) = 1 or ${offset}(metadata, ${`,${text}`}) > 0)`
}

type RowAccess = 'read' | 'share' | 'update'

function lockedFor(
  db: Connection,
  query: RowQuery<SampleTable>,
  access: RowAccess,
): RowQuery<SampleTable> {
  if (access === 'read') return query
  return access === 'share' ? forShare(db, query) : forUpdate(db, query)
}

function rowsOfTenant(
  db: Connection,
  table: SampleTable,
  tenant: string | RawBuilder<string>,
): RowQuery<SampleTable> {
  const query = db.selectFrom(table).selectAll().where('tenant_id', '=', tenant)
  return factsOf(table).isHidden ? query.where(sql<boolean>`deleted_at is null`) : query
}

/** Statements by table and access. */
const rowById = statementByForm((table: SampleTable, access: RowAccess) => {
  const build = (db: Connection, slot: SlotFor<{ tenant: string; id: string }>) => {
    const tenant = slot((row) => row.tenant)
    const id = slot((row) => row.id)
    return lockedFor(db, rowsOfTenant(db, table, tenant).where('id', '=', id), access)
  }
  return statement(build)
})

/** Rows of a tenant by conditions with values. The statement is built once for each dialect. */
export function rowsBy<Table extends RowTable, Values>(
  table: Table,
  narrow: (query: RowQuery<Table>, slot: SlotFor<Values>) => RowQuery<Table>,
): (db: Reads, tenant: string, values: Values) => Promise<RowOf<Table>[]>
export function rowsBy<Values>(
  table: SampleTable,
  narrow: (query: RowQuery<SampleTable>, slot: SlotFor<Values>) => RowQuery<SampleTable>,
) {
  type TenantValues = { tenant: string; values: Values }
  // Without a name, because migrations change what `*` stands for.
  const run = statement(
    (db: Connection, slot: SlotFor<TenantValues>) =>
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
    (await run(db as Connection, { tenant, values })).map((row) => decode(table, row))
}

/** Decodes JSON columns. The result has a prototype, which rows of SQLite's driver lack. */
function decode(table: SampleTable, row: StoredRow): SampleRow {
  const values: Record<string, unknown> = { ...row }
  for (const column of factsOf(table).json.keys())
    values[column] = fromJson(values[column] as Json<unknown> | null)
  return values as SampleRow
}

class TableRows implements Rows<SampleTable> {
  readonly #db: Connection
  readonly #table: SampleTable
  readonly #facts: TableFacts

  constructor(db: Connection, table: SampleTable) {
    this.#db = db
    this.#table = table
    this.#facts = factsOf(table)
  }

  get(tenant: string, id: string): Promise<SampleRow> {
    return this.#one(tenant, id, 'read')
  }

  getForShare(tenant: string, id: string): Promise<SampleRow> {
    return this.#one(tenant, id, 'share')
  }

  getForUpdate(tenant: string, id: string): Promise<SampleRow> {
    return this.#one(tenant, id, 'update')
  }

  find(tenant: string, by: string | RowCondition<SampleTable>): Promise<SampleRow | undefined> {
    return this.#first(tenant, by, 'read')
  }

  findForUpdate(
    tenant: string,
    by: string | RowCondition<SampleTable>,
  ): Promise<SampleRow | undefined> {
    return this.#first(tenant, by, 'update')
  }

  async all(tenant: string, narrow: RowCondition<SampleTable>): Promise<SampleRow[]> {
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
    }: ListFilter & { where?: RowCondition<SampleTable> } = {},
  ): Promise<Listing<SampleRow>> {
    const all = rowsOfTenant(this.#db, this.#table, tenant)
    let query = where ? where(all) : all
    if (archived !== true)
      query = query.where('archived_at', archived === 'only' ? 'is not' : 'is', null)
    for (const { op, at } of made) query = query.where('created_at', op, at)
    for (const pair of metadata) query = query.where(holdsPair(this.#db, pair))
    const found = await readPage(tenant, query, paging, rowWeight(...this.#facts.long))
    return mapListing(found, (row) => decode(this.#table, row))
  }

  async insert(row: SampleRow): Promise<SampleRow> {
    await insertRows(this.#db, this.#table, [this.#encoded(row)])
    this.#tell(row.id, { after: row })
    return row
  }

  async update(kept: SampleRow, columns: Partial<SampleRow>): Promise<SampleRow> {
    await this.#db
      .updateTable(this.#table)
      .set(this.#encoded(columns))
      .where('tenant_id', '=', kept.tenant_id)
      .where('id', '=', kept.id)
      .execute()
    this.#tell(kept.id, { before: kept, after: { ...kept, ...columns } })
    return { ...kept, ...columns }
  }

  archive(kept: SampleRow, now: number): Promise<SampleRow> {
    return this.update(kept, { archived_at: iso(now), updated_at: iso(now) })
  }

  async remove(tenant: string, id: string): Promise<void> {
    await this.#db
      .deleteFrom(this.#table)
      .where('tenant_id', '=', tenant)
      .where('id', '=', id)
      .execute()
  }

  /** Reports a change to the audit. The fields of a record stand beside the columns. */
  #tell(id: string, change: { before?: SampleRow; after?: SampleRow }): void {
    if (!isAudited()) return
    const type = this.#facts.noun.replaceAll(' ', '_')
    const before = change.before && this.#clear(change.before)
    const after = change.after && this.#clear(change.after)
    auditChange({ type, id, ...(before && { before }), ...(after && { after }) })
  }

  #clear(row: SampleRow): Record<string, unknown> {
    const fields: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(row)) {
      if (this.#facts.sealed.has(name)) continue
      const isRecord = this.#facts.json.get(name) === 'record'
      if (isRecord && typeof value === 'object') Object.assign(fields, value)
      else fields[name] = value
    }
    return fields
  }

  async #one(tenant: string, id: string, access: RowAccess): Promise<SampleRow> {
    const found = await this.#first(tenant, id, access)
    if (!found) throw notFound(this.#facts.noun, id)
    return found
  }

  async #first(
    tenant: string,
    by: string | RowCondition<SampleTable>,
    access: RowAccess,
  ): Promise<SampleRow | undefined> {
    const [found] =
      typeof by === 'string'
        ? await rowById(this.#table, access)(this.#db, { tenant, id: by })
        : await lockedFor(
            this.#db,
            by(rowsOfTenant(this.#db, this.#table, tenant)),
            access,
          ).execute()
    return found && decode(this.#table, found)
  }

  /** Encodes JSON columns. Columns that are not given stay absent. */
  #encoded<Columns extends Partial<SampleRow>>(columns: Columns) {
    const values: Record<string, unknown> = { ...columns }
    for (const [column, kind] of this.#facts.json) {
      const value = values[column]
      if (value === undefined || value === null) continue
      values[column] = kind === 'record' ? recordText(this.#facts.noun, value) : toJson(value)
    }
    return values as { [Column in keyof Columns & keyof StoredRow]: StoredRow[Column] }
  }
}
