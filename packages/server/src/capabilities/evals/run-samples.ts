/** The samples of a new run: those of its request, or those of a dataset, which are read and copied page by page. */
import type { EvalCreate, EvalSpec } from '@steward/protocol/evals.ts'
import { mostResults } from '@steward/protocol/evals.ts'
import { idOfSample } from '@steward/protocol/samples.ts'
import { invalid, notFound } from '../../ground/core/errors.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { NumberedSample } from './datasets/store.ts'
import { datasetStore } from './datasets/store.ts'
import { isInspecting, setupInspection } from './inspections.ts'
import { insertSamples } from './store.ts'

/** The parts of samples that decide whether a run can begin. */
type SampleFacts = {
  placed: Pick<NumberedSample, 'id' | 'position'>[]
  /** The first sample without a grader. */
  ungraded?: string
  /** The first grader that inspects a sandbox. */
  inspecting?: string
  /** The first sample with a setup. */
  prepared?: string
}

export type RunSamples = SampleFacts & {
  dataset: EvalSpec['dataset']
  /** Inserts the samples of the run. */
  insert: (tx: Queries, run: string) => Promise<void>
}

function note(facts: SampleFacts, samples: readonly NumberedSample[]): void {
  for (const { id, position, sample } of samples) {
    const graders = sample.graders ?? []
    facts.placed.push({ id, position })
    if (graders.length === 0) facts.ungraded ??= id
    facts.inspecting ??= graders.find(isInspecting)?.name
    if (setupInspection(sample)) facts.prepared ??= id
  }
}

export async function loadRunSamples(
  read: Reads,
  tenant: string,
  { dataset, samples, graders, trials }: EvalCreate,
): Promise<RunSamples> {
  if (!dataset) return samplesOfRequest(tenant, samples ?? [])
  const found = await samplesOfDataset(read, tenant, dataset)
  const { length } = found.placed
  if (length === 0) throw invalid(`dataset: ${dataset.id} has no samples`)
  if (length * trials > mostResults)
    throw invalid(`trials: samples times trials may be ${mostResults} at most`)
  if (!graders?.length && found.ungraded !== undefined)
    throw invalid(`graders: is required, because sample ${found.ungraded} has none`)
  return found
}

function samplesOfRequest(tenant: string, given: NonNullable<EvalCreate['samples']>): RunSamples {
  const samples = given.map((sample, position) => {
    return { id: idOfSample(sample, position), sample, position }
  })
  const facts: SampleFacts = { placed: [] }
  note(facts, samples)
  const insert = (tx: Queries, run: string) =>
    insertSamples(tx, { tenant, set: run, since: 1 }, samples)
  return { ...facts, dataset: null, insert }
}

async function samplesOfDataset(
  read: Reads,
  tenant: string,
  { id, version: asked }: NonNullable<EvalCreate['dataset']>,
): Promise<RunSamples> {
  const facts: SampleFacts = { placed: [] }
  const pages: { after: number; last: number }[] = []
  for (let version = asked ?? undefined; ;) {
    const after = facts.placed.at(-1)?.position ?? -1
    const page = await datasetStore(read).samples(tenant, id, { version, after, limit: 500 })
    note(facts, page.rows)
    version = page.version
    const last = facts.placed.at(-1)?.position ?? -1
    pages.push({ after, last })
    if (page.more) continue
    const from = { id, version }
    return { ...facts, dataset: from, insert: (tx, run) => copy(tx, run, from) }
  }

  /** A version never changes, but its dataset may be deleted since it was read. */
  async function copy(tx: Queries, run: string, from: { id: string; version: number }) {
    let copied = 0
    for (const page of pages) copied += await datasetStore(tx).copy(tenant, from, { run, ...page })
    if (copied < facts.placed.length) throw notFound('eval dataset', id)
  }
}
