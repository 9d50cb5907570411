/** What this room needs of vaults. */
import type { Sealed } from '../core/seal.ts'

export type ReadAuth =
  | { type: 'static_bearer'; mcp_server_url: string }
  | {
      type: 'mcp_oauth'
      mcp_server_url: string
      expires_at?: string | null
      refresh?: {
        client_id: string | null
        token_endpoint: string
        token_endpoint_auth: { type: 'none' | 'client_secret_basic' | 'client_secret_post' }
        resource?: string | null
        scope?: string | null
      } | null
    }
  | { type: 'cap_cli'; cli_id: string }
  | { type: 'command_secret'; env_var: string; command_prefixes: string[] }
  | {
      type: 'environment_variable'
      secret_name: string
      networking: { type: 'unrestricted' } | { type: 'limited'; allowed_hosts: string[] }
      injection_location: { header: boolean; body: boolean }
    }

export type CredentialRow = {
  tenant_id: string
  vault_id: string
  id: string
  type: string
  revision: number
  auth: ReadAuth
  sealed: Sealed
  refresh_owner: string | null
  refresh_until_ms: number | null
}

export type OpenAuth =
  | { type: 'static_bearer'; token: string }
  | {
      type: 'mcp_oauth'
      access_token: string
      refresh_token?: string | null
      client_secret?: string | null
    }
  | { type: 'cap_cli'; token: string }
  | { type: 'command_secret'; token: string }
  | { type: 'environment_variable'; secret_value: string }

export type CliHost = { host: string; form: 'bearer' | 'token' | 'basic' }
export const clis: Record<string, { hosts: CliHost[]; variable: string }> = {}
