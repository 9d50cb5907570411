import { Readable } from 'node:stream'
import { OutputsShown } from '@steward/protocol/files.ts'
import { OutputHashes, OutputTaken } from '@steward/protocol/outputs.ts'
import type { Blobs } from '../../ground/blobs/blobs.ts'
import { invalid, notFound } from '../../ground/core/errors.ts'
import { downloadAnswers, downloadFile } from '../../resources/files/download.ts'
import { requireClaim } from '../../ground/http/principal.ts'
import type { RouteCall, Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { sessionStore } from '../rows/sessions.ts'
import { outputStore } from '../rows/outputs.ts'
import type { TakeDeps } from './take-output.ts'
import { takeOutput } from './take-output.ts'

const outputs = section('Outputs', ['workspace'], '/v1/sessions/:id/outputs')
const claimedOutputs = section('Workers', ['claim'], '/v1/ext/outputs/:session_id', 'session')

const beta = 'managed-agents-2026-04-01'

type OutputRouteDeps = TakeDeps & {
  blobs: Blobs
  /** False when publishing is switched off. */
  publishes: boolean
}

export function outputRoutes(deps: OutputRouteDeps): Route[] {
  const { publishes } = deps

  /** Checks the session first: a caller that may not see the session learns nothing else. */
  async function checkCall({
    db,
    tenant,
    params,
    betas,
  }: RouteCall<'/:id', unknown, unknown>): Promise<void> {
    await sessionStore(db.read).row(tenant, params.id)
    if (!betas.has(beta))
      throw invalid(`the header anthropic-beta: ${beta} (or vendor-beta) is required for outputs`)
    if (!publishes)
      throw invalid(
        'this server keeps no outputs: its setting STORE_BACKENDS leaves them out',
        'output_store_not_configured',
      )
  }

  return [
    outputs.get(
      '',
      { isExtension: true, summary: 'List the outputs of a session', answer: OutputsShown },
      async (call) => {
        await checkCall(call)
        const rows = await outputStore(call.db.read).shown(call.tenant, call.params.id)
        const data = rows.map(({ name, id, mime_type, size_bytes, created_at }) => ({
          type: 'output',
          filename: name,
          file_id: id,
          mime_type,
          size_bytes,
          created_at,
        }))
        return { data, has_more: false }
      },
    ),
    outputs.raw.get(
      '/:filename',
      {
        summary: 'Download an output by its name',
        isExtension: true,
        description: 'The newest file that was published under the name.',
        ...downloadAnswers,
      },
      async (call, raw) => {
        await checkCall(call)
        const { db, tenant, params } = call
        checkName(params.filename)
        const id = await outputStore(db.read).fileOf(tenant, params.id, params.filename)
        if (id === undefined) throw notFound('output', params.filename)
        return downloadFile(deps, { db, tenant, id }, raw)
      },
    ),
    ...workerRoutes(deps),
  ]
}

function workerRoutes(deps: OutputRouteDeps): Route[] {
  const { publishes } = deps
  return [
    claimedOutputs.get(
      '',
      { answer: OutputHashes, summary: 'List the outputs of a session by their hashes' },
      async ({ db, tenant, params: { session_id } }) => {
        const { largest } = deps.fileLimits
        if (!publishes) return { largest, published: null, folder: null }
        const { outputs_path: folder } = await sessionStore(db.read).row(tenant, session_id)
        const rows = await outputStore(db.read).rows(tenant, session_id)
        return {
          largest,
          published: rows.map(({ filename, sha256 }) => ({ filename, sha256 })),
          folder,
        }
      },
    ),
    claimedOutputs.raw.post(
      '/:filename',
      {
        answer: OutputTaken,
        summary: 'Publish an output of a session',
        description:
          'A file with the same bytes under the same name is published once. The answer says the hash of what arrived.',
        bytes: { type: 'application/octet-stream', description: 'The bytes of the file.' },
      },
      async ({ db, principal, params: { filename } }, { body }) => {
        if (!publishes)
          throw invalid('this server keeps no outputs: its setting STORE_BACKENDS leaves them out')
        checkName(filename)
        return takeOutput(deps, db, requireClaim(principal), filename, body ?? Readable.from([]))
      },
    ),
  ]
}

function checkName(name: string): void {
  if (name === '.' || name === '..' || name.split('/').includes('..'))
    throw invalid('filename: must not lead out of the outputs')
  if (name.includes('/'))
    throw invalid('filename: must be one segment; write ~1 for each / of an output in a folder')
}
