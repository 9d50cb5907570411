import type {
  DeploymentPausedReason,
  DeploymentSchedule,
  DeploymentSpec,
  RunError,
  TriggerType,
} from '@steward/protocol/deployments.ts'
import type { Json } from '../core/json-text.ts'
import type { Sealed } from '../core/seal.ts'

export type DeploymentTables = {
  deployments: {
    tenant_id: string
    id: string
    name: string
    description: string | null
    agent_id: string
    agent_version: number
    environment_id: string
    spec: Json<DeploymentSpec>
    /** Tokens of repositories by the index of the resource in the list. */
    sealed_tokens: Json<Record<string, Sealed>> | null
    /** Secrets that sign triggers; `previous` until `previous_trigger_secret_until`. Null: no trigger. */
    sealed_trigger_secrets: Json<{ current: Sealed; previous?: Sealed }> | null
    previous_trigger_secret_until: string | null
    metadata: Json<Record<string, string>>
    schedule: Json<DeploymentSchedule> | null
    /** Null: the deployment is active. */
    paused_reason: Json<DeploymentPausedReason> | null
    last_run_at: string | null
    /** The next time of the schedule, and that time plus jitter, when its run is due. Null: nothing is scheduled. */
    next_ms: number | null
    due_ms: number | null
    archived_at: string | null
    created_at: string
    updated_at: string
  }
  /** One row for each attempt to run a deployment. Rows never change. */
  deployment_runs: {
    tenant_id: string
    id: string
    deployment_id: string
    agent_id: string
    agent_version: number
    trigger_type: TriggerType
    /** The time of the schedule that started the run. Each time has one run. */
    scheduled_at: string | null
    /** The id of the signed delivery that started the run. Each delivery has one run. */
    webhook_id: string | null
    /** Null when `error` is set. */
    session_id: string | null
    error: Json<RunError> | null
    created_at: string
  }
}
