import type { DeploymentTables } from './deployment-tables.ts'
import type { DreamTables } from './dream-tables.ts'
import type { EvalTables } from './eval-tables.ts'
import type { IntegrationTables } from './integration-tables.ts'

/** Tables of features that are built on sessions. */
export type CapabilityTables = DeploymentTables & DreamTables & EvalTables & IntegrationTables
