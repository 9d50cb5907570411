import { z } from 'zod'
import { iso } from '@steward/base/time.ts'
import type { DatasetCreate as DatasetBody } from '@steward/protocol/eval-datasets.ts'
import {
  DatasetCreate,
  DatasetShown,
  DatasetUpdate,
  SampleListQuery,
} from '@steward/protocol/eval-datasets.ts'
import type { Page } from '@steward/protocol/primitives.ts'
import { ListOf, ListQuery } from '@steward/protocol/primitives.ts'
import { SampleShown, idOfSample } from '@steward/protocol/samples.ts'
import type { BlobKeeping } from '../../../ground/blobs/blob-keeping.ts'
import { decodeCursor, encodeCursor } from '../../../ground/core/text/cursor.ts'
import { invalid } from '../../../ground/core/errors.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import { mergeMetadata } from '../../../ground/core/text/metadata.ts'
import { defaultLimit, forwardPage } from '../../../ground/core/text/page.ts'
import type { Reads, TenantRef } from '../../../ground/database/database.ts'
import { contentBody } from '../../../ground/http/limits.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { Ground } from '../../../ground/ground.ts'
import type { NamedSample } from '../store.ts'
import { withFileTexts } from '../file-texts.ts'
import { samplesFrom } from './from-sessions.ts'
import { datasetStore } from './store.ts'
import { rows } from '../../../ground/database/rows.ts'

const datasets = section('Evals', ['workspace'], '/v1/ext/eval_datasets')

/** The samples of the body and the samples of its sessions. */
async function samplesOf(
  read: Reads,
  tenant: string,
  { samples, source }: Pick<DatasetBody, 'samples' | 'source'>,
): Promise<NamedSample[]> {
  const given = (samples ?? []).map((sample, index) => ({ id: idOfSample(sample, index), sample }))
  const made = source ? await samplesFrom(read, tenant, [...new Set(source.session_ids)]) : []
  const ids = new Set(given.map(({ id }) => id))
  const twice = made.find(({ id }) => ids.has(id))
  if (twice) throw invalid(`samples: a sample has the id of session ${twice.id} of source`)
  return [...given, ...made]
}

export function datasetRoutes({ clock, keeping }: Ground & { keeping: BlobKeeping }): Route[] {
  const withTexts = <Body extends Pick<DatasetBody, 'samples'>>(
    { db, tenant }: TenantRef,
    body: Body,
  ) => withFileTexts({ tenant, read: db.read, blobs: keeping.blobs, now: clock.now() }, body)
  return [
    ...datasets.plain(
      { one: 'a dataset', many: 'datasets', item: '/:id', answer: DatasetShown },
      {
        create: {
          description:
            'From samples, from sessions, or from both. A session becomes a sample with its messages as input and its last answer as what is expected.',
          body: DatasetCreate,
          limits: contentBody,
          async run({ db, tenant, body }) {
            const samples = await samplesOf(db.read, tenant, await withTexts({ db, tenant }, body))
            const now = clock.now()
            const times = { created_at: iso(now), updated_at: iso(now) }
            const { name, description = null, metadata } = body
            const id = newId('eval_dataset')
            const kept = { tenant_id: tenant, id, name, description, metadata: metadata ?? {} }
            return db.write(async (tx) => {
              const store = datasetStore(tx)
              await store.change({ ...kept, version: 0 }, { put: samples, remove: [] })
              return store.insert({ ...kept, version: 1, ...times })
            })
          },
        },
        list: {
          query: ListQuery,
          scope: 'eval_datasets',
          rows: ({ db, tenant }, paging) => datasetStore(db.read).list(tenant, paging),
        },
        get: { run: ({ db, tenant, params }) => datasetStore(db.read).get(tenant, params.id) },
        update: {
          description: 'A change of samples makes a new version; runs keep theirs.',
          body: DatasetUpdate,
          limits: contentBody,
          async run({ db, tenant, params, body }) {
            const put = await samplesOf(db.read, tenant, await withTexts({ db, tenant }, body))
            return db.write(async (tx) => {
              const store = datasetStore(tx)
              const row = await rows(tx, 'eval_datasets').getForUpdate(tenant, params.id)
              const version = await store.change(row, { put, remove: body.remove ?? [] })
              const metadata = mergeMetadata(row.metadata, body.metadata ?? {})
              const name = body.name ?? row.name
              const { description = row.description } = body
              return store.update(row, { version, metadata, name, description }, clock.now())
            })
          },
        },
        delete: {
          description: 'Runs keep the samples that they had.',
          type: 'eval_dataset_deleted',
          run: ({ db, tenant, params }) =>
            db.write(async (tx) => {
              await rows(tx, 'eval_datasets').getForUpdate(tenant, params.id)
              await datasetStore(tx).remove(tenant, params.id)
            }),
        },
      },
    ),
    datasets.get(
      '/:id/samples',
      {
        summary: 'List the samples of a dataset',
        query: SampleListQuery,
        answer: ListOf(SampleShown),
      },
      ({ db, tenant, params, query }) => listSamples({ db, tenant }, params.id, query),
    ),
  ]
}

/** The version and the position of the last sample of the page before. */
const Position = z.tuple([z.int().min(1), z.int().min(0)])

/** The pages behind the first one stay at its version. */
async function listSamples(
  { db, tenant }: TenantRef,
  id: string,
  { limit = defaultLimit, page, cursor: other, version: asked }: SampleListQuery,
): Promise<Page<object> & { first_id: string | null; last_id: string | null }> {
  const cursor = page ?? other
  const scope = asked === undefined ? `samples/${id}` : `samples/${id}/${asked}`
  const [at, after] = cursor === undefined ? [asked] : decodeCursor(cursor, scope, Position)
  const { version, rows, more } = await datasetStore(db.read).samples(tenant, id, {
    version: at,
    after,
    limit,
  })
  const last = rows.at(-1)
  const next_page = more && last ? encodeCursor(scope, [version, last.position]) : null
  const samples = rows.map((row) => ({ ...row.sample, id: row.id, type: 'eval_sample' }))
  return forwardPage(
    samples,
    next_page,
    rows.map((row) => row.id),
  )
}
