/** For tests: rows of resources. */
import type { ResourceFields, ResourceType } from '@steward/protocol/session-resources.ts'
import type { ResourceRow } from '../rows/resources.ts'

const columns = {
  ...{ tenant_id: 'wrkspc_1', session_id: 'sesn_1', id: 'sesrsc_1' },
  ...{ refers_to: null, sealed_token: null, mounted_at: null },
  ...{ created_at: '', updated_at: '' },
}

type Columns = Omit<ResourceRow, 'type' | 'fields'>

export const createResourceRows =
  <Type extends ResourceType>(type: Type, path: string, fields: ResourceFields<Type>) =>
  (columnsOfOne: Partial<Columns> = {}, fieldsOfOne: Partial<ResourceFields<Type>> = {}) => ({
    ...columns,
    type,
    mount_path: path,
    resolved_path: path,
    ...columnsOfOne,
    fields: { ...fields, ...fieldsOfOne },
  })

export const fileRow = createResourceRows('file', '/workspace/a.csv', { file_id: 'file_1' })

export const repositoryRow = createResourceRows('github_repository', '/workspace/b', {
  url: 'https://git.example/a/b',
  checkout: null,
})

export const storeRow = createResourceRows('memory_store', '/mnt/memory/notes', {
  memory_store_id: 'memstore_1',
  ...{ instructions: null, access: 'read_write', name: 'Notes', description: '' },
})
