import { iso } from '@steward/base/time.ts'
import type { Dataset } from '@steward/protocol/eval-datasets.ts'
import type { Sample } from '@steward/protocol/samples.ts'
import { sql } from 'kysely'
import { invalid, notFound } from '../../../ground/core/errors.ts'
import { fromJson } from '../../../ground/core/text/json-text.ts'
import type { Listing, Paging } from '../../../ground/core/text/page.ts'
import { mapListing } from '../../../ground/core/text/page.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { readListing, rowWeight } from '../../../ground/database/listing.ts'
import type { RowOf } from '../../../ground/database/rows.ts'
import { rows } from '../../../ground/database/rows.ts'
import { defineStore } from '../../../ground/database/store-of.ts'
import type { NamedSample } from '../store.ts'
import { digestSample, insertSamples } from '../store.ts'

export type DatasetRow = RowOf<'eval_datasets'>
export type NumberedSample = NamedSample & { position: number }

/** Bounds of one version of a dataset: samples, and bytes of their JSON. */
const mostSamples = 10_000
const mostBytes = 64 * 1024 * 1024

/** Where a page of samples begins: behind the sample at this position. */
export type SamplePaging = {
  version?: number | undefined
  after?: number | undefined
  limit: number
}

const show = ({ id, name, description, metadata, version, ...row }: DatasetRow): Dataset => ({
  id,
  type: 'eval_dataset',
  name,
  description,
  metadata,
  version,
  created_at: row.created_at,
  updated_at: row.updated_at,
})

const sizeOf = (sample: Sample): number => Buffer.byteLength(JSON.stringify(sample))

const samplesOf = (db: Reads, { tenant, id }: { tenant: string; id: string }, version: number) =>
  db
    .selectFrom('eval_samples')
    .where('tenant_id', '=', tenant)
    .where('set_id', '=', id)
    .where('since', '<=', version)
    .where((eb) => eb.or([eb('until', 'is', null), eb('until', '>', version)]))

function datasetReads(db: Reads) {
  return {
    get: async (tenant: string, id: string): Promise<Dataset> =>
      show(await rows(db, 'eval_datasets').get(tenant, id)),

    list: async (tenant: string, paging: Paging): Promise<Listing<Dataset>> =>
      mapListing(await rows(db, 'eval_datasets').list(tenant, paging), show),

    /** A page of the samples in their order, at `version` or at the newest one. */
    async samples(
      tenant: string,
      id: string,
      { version: wanted, after = -1, limit }: SamplePaging,
    ): Promise<Listing<NumberedSample> & { version: number }> {
      const { version: newest } = await rows(db, 'eval_datasets').get(tenant, id)
      const version = wanted ?? newest
      if (version > newest) throw notFound('eval dataset version', `${id}/${version}`)
      const ordered = samplesOf(db, { tenant, id }, version)
        .select(['id', 'position', 'sample'])
        .where('position', '>', after)
        .orderBy('position')
      const found = await readListing(tenant, ordered, { limit, weight: rowWeight('sample') })
      const page = mapListing(found, (row) => ({ ...row, sample: fromJson(row.sample) }))
      return { version, ...page }
    },
  }
}

function datasetWrites(db: Queries) {
  return {
    insert: async (row: DatasetRow): Promise<Dataset> =>
      show(await rows(db, 'eval_datasets').insert(row)),

    async update(kept: DatasetRow, columns: Partial<DatasetRow>, now: number): Promise<Dataset> {
      const set = { ...columns, updated_at: iso(now) }
      return show(await rows(db, 'eval_datasets').update(kept, set))
    },

    /** Creates the next version with these changes and returns its number; the present number when nothing changes. */
    async change(
      { tenant_id: tenant, id, version }: Pick<DatasetRow, 'tenant_id' | 'id' | 'version'>,
      { put, remove }: { put: readonly NamedSample[]; remove: readonly string[] },
    ): Promise<number> {
      const kept = await samplesOf(db, { tenant, id }, version)
        .select(['id', 'position', 'digest', sql<number>`octet_length(sample)`.as('bytes')])
        .execute()
      const known = new Map(kept.map((row) => [row.id, row]))
      for (const each of remove) if (!known.has(each)) throw notFound('eval sample', each)
      const changed = put.filter((each) => known.get(each.id)?.digest !== digestSample(each.sample))
      const ended = new Set(
        [...remove, ...changed.map((each) => each.id)].filter((each) => known.has(each)),
      )
      if (changed.length === 0 && ended.size === 0) return version
      if (known.size - ended.size + changed.length > mostSamples)
        throw invalid(`samples: a dataset has ${mostSamples} samples at most`)
      const left = kept.filter((each) => !ended.has(each.id))
      const sizes = [...left, ...changed.map(({ sample }) => ({ bytes: sizeOf(sample) }))]
      if (sizes.reduce((sum, { bytes }) => sum + bytes, 0) > mostBytes)
        throw invalid(
          `samples: a dataset has ${mostBytes} bytes of samples as JSON at most; remove samples, or make another dataset`,
        )
      const next = version + 1
      await db
        .updateTable('eval_samples')
        .set({ until: next })
        .where('tenant_id', '=', tenant)
        .where('set_id', '=', id)
        .where('until', 'is', null)
        .where('id', 'in', ended.size > 0 ? [...ended] : [''])
        .execute()
      const last = Math.max(-1, ...kept.map(({ position }) => position))
      const added = changed.map((each, index) => ({
        ...each,
        position: known.get(each.id)?.position ?? last + 1 + index,
      }))
      await insertSamples(db, { tenant, set: id, since: next }, added)
      return next
    },

    /** Copies the samples of a version behind the position `after`, up to `last`, to a run. Returns their number. */
    async copy(
      tenant: string,
      { id, version }: { id: string; version: number },
      { run, after, last }: { run: string; after: number; last: number },
    ): Promise<number> {
      const copied = await db
        .insertInto('eval_samples')
        .columns(['tenant_id', 'set_id', 'id', 'since', 'until', 'position', 'digest', 'sample'])
        .expression(
          samplesOf(db, { tenant, id }, version)
            .where('position', '>', after)
            .where('position', '<=', last)
            .select((eb) => [
              'tenant_id',
              sql<string>`${run}`.as('set_id'),
              'id',
              sql<number>`cast(1 as integer)`.as('since'),
              sql<number | null>`cast(null as integer)`.as('until'),
              'position',
              'digest',
              eb.ref('sample').as('sample'),
            ]),
        )
        .executeTakeFirst()
      return Number(copied.numInsertedOrUpdatedRows ?? 0)
    },

    async remove(tenant: string, id: string): Promise<void> {
      await db
        .deleteFrom('eval_samples')
        .where('tenant_id', '=', tenant)
        .where('set_id', '=', id)
        .execute()
      await rows(db, 'eval_datasets').remove(tenant, id)
    },
  }
}

/** Datasets and the versions of their samples. */
export const datasetStore = defineStore(datasetReads, datasetWrites)
