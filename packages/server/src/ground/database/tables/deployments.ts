import type {
  DeploymentPausedReason,
  DeploymentSchedule,
  DeploymentSpec,
  RunError,
  TriggerType,
} from '@steward/protocol/deployments.ts'
import type { Sealed } from '../../core/security/seal.ts'
import { json, long, nullable, number, record, sealedJson, table, text } from '../table.ts'

export const deploymentTables = {
  deployments: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'deployment',
    /** Of a process that is about to run the deployment. The unit of the run decides whether it runs. */
    lease: { expires: 'due_ms' },
    columns: {
      tenant_id: text(),
      id: text(),
      name: long(text()),
      description: nullable(long(text())),
      agent_id: text(),
      agent_version: number(),
      environment_id: text(),
      spec: long(record<DeploymentSpec>()),
      /** Tokens of repositories by the index of the resource in the list. */
      sealed_tokens: nullable(long(sealedJson<Record<string, Sealed>>())),
      /** Secrets that sign triggers; `previous` until `previous_trigger_secret_until`. Null: no trigger. */
      sealed_trigger_secrets: nullable(sealedJson<{ current: Sealed; previous?: Sealed }>()),
      previous_trigger_secret_until: nullable(text()),
      metadata: long(json<Record<string, string>>()),
      schedule: nullable(json<DeploymentSchedule>()),
      /** Null: the deployment is active. */
      paused_reason: nullable(json<DeploymentPausedReason>()),
      last_run_at: nullable(text()),
      /** The next time of the schedule, and that time plus jitter, when its run is due. Null: nothing is scheduled. */
      next_ms: nullable(number()),
      due_ms: nullable(number()),
      archived_at: nullable(text()),
      created_at: text(),
      updated_at: text(),
    },
  }),
  /** One row for each attempt to run a deployment. Rows never change. */
  deployment_runs: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'deployment run',
    columns: {
      tenant_id: text(),
      id: text(),
      deployment_id: text(),
      agent_id: text(),
      agent_version: number(),
      trigger_type: text<TriggerType>(),
      /** The time of the schedule that started the run. Each time has one run. */
      scheduled_at: nullable(text()),
      /** The id of the signed delivery that started the run. Each delivery has one run. */
      webhook_id: nullable(text()),
      /** Null when `error` is set. */
      session_id: nullable(text()),
      error: nullable(long(json<RunError>())),
      created_at: text(),
    },
  }),
}
