// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const memoryStores = {
  'memory-stores/field/id': { section: '13.1 Fields', says: '`id` – string – assigned', deferred: 'C' },
  'memory-stores/field/name': { section: '13.1 Fields', says: '`name` – string – required at creation', deferred: 'C' },
  'memory-stores/field/agent-id': { section: '13.1 Fields', says: '`agent_id` – string or null – the agent it belongs to', deferred: 'C' },
  'memory-stores/field/embedding-model': { section: '13.1 Fields', says: '`embedding_model` – string – from a setting of the deployment unless given', deferred: 'C' },
  'memory-stores/field/vector-index': { section: '13.1 Fields', says: '`vector_index` – string – the name of its index', deferred: 'C' },
  'memory-stores/create': { section: '13.2 Endpoints', says: 'POST `/v1/memory_stores` – creates a store with a name', deferred: 'C' },
  'memory-stores/list': { section: '13.2 Endpoints', says: 'GET `/v1/memory_stores` – lists the workspace\'s stores', deferred: 'C' },
  'memory-stores/get': { section: '13.2 Endpoints', says: 'GET `/v1/memory_stores/:id` – answers one', deferred: 'C' },
  'memory-stores/update': { section: '13.2 Endpoints', says: 'POST `/v1/memory_stores/:id` – changes name, description or metadata', deferred: 'C' },
  'memory-stores/archive': { section: '13.2 Endpoints', says: 'POST `/v1/memory_stores/:id/archive` – archives', deferred: 'C' },
  'memory-stores/delete': { section: '13.2 Endpoints', says: 'DELETE `/v1/memory_stores/:id` – deletes it with its memories and versions', deferred: 'C' },
  'memories/create': { section: '13.2 Endpoints', says: 'POST `/v1/memory_stores/:id/memories` – takes `{path, content}`', deferred: 'C' },
  'memories/list': { section: '13.2 Endpoints', says: 'GET `/v1/memory_stores/:id/memories` – lists metadata; `path_prefix`, `depth`', deferred: 'C' },
  'memories/get': { section: '13.2 Endpoints', says: 'GET `/v1/memory_stores/:id/memories/:mid` – one memory, its content included', deferred: 'C' },
  'memories/update': { section: '13.2 Endpoints', says: 'POST `/v1/memory_stores/:id/memories/:mid` – takes `{path?, content?, precondition?}`', deferred: 'C' },
  'memories/delete': { section: '13.2 Endpoints', says: 'DELETE `/v1/memory_stores/:id/memories/:mid` – deletes a memory', deferred: 'C' },
  'memory-versions/list': { section: '13.2 Endpoints', says: 'GET `/v1/memory_stores/:id/memory_versions` – the history; `memory_id`', deferred: 'C' },
  'memory-versions/get': { section: '13.2 Endpoints', says: 'GET `/v1/memory_stores/:id/memory_versions/:vid` – a version with its content', deferred: 'C' },
  'memory-versions/redact': { section: '13.2 Endpoints', says: 'POST `/v1/memory_stores/:id/memory_versions/:vid/redact` – removes the content of an earlier version', deferred: 'C' },
  'memory-stores/beta-header': { section: '13.2 Endpoints', says: 'A call without the beta value is refused with 400.', deferred: 'C' },
  'memory-versions/audit': { section: '13.2 Endpoints', says: 'A version records who changed what, with the content as it then was.', deferred: 'C' },
  'memory-versions/head-protected': { section: '13.2 Endpoints', says: 'The version that is the present content of a memory cannot be redacted.', deferred: 'C' },
  'memories/precondition': { section: '13.2 Endpoints', says: 'A failed `precondition` leaves the memory as it is and answers 409.', deferred: 'C' },
  'memory-stores/attached': { section: '13.2 Endpoints', says: 'A session attaches a store as `read_only` or `read_write`.', deferred: 'C' },
} satisfies Record<string, Requirement>
