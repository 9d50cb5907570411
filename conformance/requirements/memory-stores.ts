// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const memoryStores = {
  'memory-stores/field/id': { section: '13.1 Fields', says: '`id` – string – assigned' },
  'memory-stores/field/name': { section: '13.1 Fields', says: '`name` – string – required at creation' },
  'memory-stores/field/agent-id': { section: '13.1 Fields', says: '`agent_id` – string or null – the agent it belongs to' },
  'memory-stores/field/embedding-model': { section: '13.1 Fields', says: '`embedding_model` – string – from a setting of the deployment unless given' },
  'memory-stores/field/vector-index': { section: '13.1 Fields', says: '`vector_index` – string – the name of its index' },
  'memory-stores/create': { section: '13.2 Endpoints', says: 'POST `/v1/memory_stores` – creates a store with a name' },
  'memory-stores/list': { section: '13.2 Endpoints', says: 'GET `/v1/memory_stores` – lists the workspace\'s stores' },
  'memory-stores/get': { section: '13.2 Endpoints', says: 'GET `/v1/memory_stores/:id` – answers one' },
  'memory-stores/update': { section: '13.2 Endpoints', says: 'POST `/v1/memory_stores/:id` – changes name, description or metadata' },
  'memory-stores/archive': { section: '13.2 Endpoints', says: 'POST `/v1/memory_stores/:id/archive` – archives' },
  'memory-stores/delete': { section: '13.2 Endpoints', says: 'DELETE `/v1/memory_stores/:id` – deletes it with its memories and versions' },
  'memories/create': { section: '13.2 Endpoints', says: 'POST `/v1/memory_stores/:id/memories` – takes `{path, content}`' },
  'memories/list': { section: '13.2 Endpoints', says: 'GET `/v1/memory_stores/:id/memories` – lists metadata; `path_prefix`, `depth`' },
  'memories/get': { section: '13.2 Endpoints', says: 'GET `/v1/memory_stores/:id/memories/:mid` – one memory, its content included' },
  'memories/update': { section: '13.2 Endpoints', says: 'POST `/v1/memory_stores/:id/memories/:mid` – takes `{path?, content?, precondition?}`' },
  'memories/delete': { section: '13.2 Endpoints', says: 'DELETE `/v1/memory_stores/:id/memories/:mid` – deletes a memory' },
  'memory-versions/list': { section: '13.2 Endpoints', says: 'GET `/v1/memory_stores/:id/memory_versions` – the history; `memory_id`' },
  'memory-versions/get': { section: '13.2 Endpoints', says: 'GET `/v1/memory_stores/:id/memory_versions/:vid` – a version with its content' },
  'memory-versions/redact': { section: '13.2 Endpoints', says: 'POST `/v1/memory_stores/:id/memory_versions/:vid/redact` – removes the content of an earlier version' },
  'memories/list/raw-prefix': { section: '13.2 Endpoints', says: '`path_prefix` begins and ends with `/`. Under `managed-agents-2026-04-01` alone it may end otherwise, and is then the beginning of paths.' },
  'memory-stores/beta-header': { section: '13.2 Endpoints', says: 'A call without the beta value is refused with 400.' },
  'memory-versions/audit': { section: '13.2 Endpoints', says: 'A version records who changed what, with the content as it then was.' },
  'memory-stores/full-view': { section: '13.2 Endpoints', says: 'A page with `view=full` has 20 items at most, whatever `limit` says up to 100.' },
  'memory-versions/head-protected': { section: '13.2 Endpoints', says: 'The version that is the present content of a memory cannot be redacted.' },
  'memories/precondition': { section: '13.2 Endpoints', says: 'A failed `precondition` leaves the memory as it is and answers 409.' },
  'memory-stores/attached': { section: '13.2 Endpoints', says: 'A session attaches a store as `read_only` or `read_write`; sessions are listed by `memory_store_id`.' },
} satisfies Record<string, Requirement>
