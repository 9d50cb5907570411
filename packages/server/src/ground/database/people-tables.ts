/** People, their sign-ins, and the workspaces they belong to. All of it is in the control database. */
export type MemberRole = 'viewer' | 'member' | 'admin' | 'owner'

export type PeopleTables = {
  people: {
    id: string
    /** In lower case; unique. */
    email: string
    /** Whether the person has shown to read mail at the address. */
    email_verified: number
    name: string
    /** Whether the person may make workspaces. */
    operator: number
    created_at: string
    updated_at: string
  }
  sign_ins: {
    id: string
    person_id: string
    /** Of the token in the cookie. */
    token_hash: string
    /** The workspace that the person has chosen for requests that name none. */
    workspace_id: string | null
    ip_address: string | null
    user_agent: string | null
    expires_at: string
    created_at: string
    updated_at: string
  }
  /** How a person signs in: a password, or an account at an identity provider, whose tokens are not kept. */
  sign_in_accounts: {
    id: string
    person_id: string
    /** `credential` for a password. */
    provider_id: string
    account_id: string
    password_hash: string | null
    created_at: string
    updated_at: string
  }
  /** Codes, links and states that wait to be used once, as hashes. */
  verifications: {
    id: string
    identifier: string
    value: string
    expires_at: string
    created_at: string
    updated_at: string
  }
  members: {
    tenant_id: string
    person_id: string
    role: MemberRole
    created_at: string
  }
  invitations: {
    /** Empty for the first owner of the deployment, who owns the first workspace. */
    tenant_id: string
    id: string
    /** Null: whoever holds the link names an address. */
    email: string | null
    /** Whether the link was sent to the address, so that its use proves the address. */
    mailed: number
    role: MemberRole
    /** Null once the invitation was accepted. */
    token_hash: string | null
    /** The person or the key that has invited; null for an operator's command. */
    invited_by: string | null
    accepted_by: string | null
    accepted_at: string | null
    expires_at: string
    created_at: string
  }
}
