/** Requests that would attach the resources of a session to another one, each at its place. */
import type { Seal } from '../../ground/core/seal.ts'
import type { ResourceRow } from '../rows/resources.ts'
import { repositoryTokenPlace } from '../rows/resources.ts'
import type { ResourceParams, ResourceRequest } from './kind.ts'

export const requestsAgain = (rows: readonly ResourceRow[], seal: Seal): ResourceRequest[] =>
  rows.map((row, index) => ({ resource: paramsOf(row, seal), at: `resources.${index}.` }))

function paramsOf(row: ResourceRow, seal: Seal): ResourceParams {
  const { mount_path } = row
  switch (row.type) {
    case 'file':
      return { type: row.type, file_id: row.fields.file_id, mount_path }
    case 'memory_store': {
      const { memory_store_id, access, instructions } = row.fields
      return { type: row.type, memory_store_id, access, instructions, mount_path }
    }
    case 'github_repository': {
      const { url, checkout } = row.fields
      const { sealed_token: token, tenant_id, id } = row
      const authorization_token = token && seal.open(token, repositoryTokenPlace(tenant_id, id))
      return {
        type: row.type,
        url,
        checkout,
        mount_path,
        ...(authorization_token ? { authorization_token } : {}),
      }
    }
    default:
      return row satisfies never
  }
}
