/** People, their sign-ins and their workspaces. All tables are in the control database. */
export type MemberRole = 'viewer' | 'member' | 'admin' | 'owner'

export type PeopleTables = {
  people: {
    id: string
    /** Mail address in lower case; unique. */
    email: string
    /** 1 when the person has proved to read mail at the address. */
    email_verified: number
    name: string
    /** 1 when the person may create workspaces. */
    operator: number
    created_at: string
    updated_at: string
  }
  sign_ins: {
    id: string
    person_id: string
    /** Hash of the token in the cookie. */
    token_hash: string
    /** The workspace that the person chose for requests that name none. */
    workspace_id: string | null
    ip_address: string | null
    user_agent: string | null
    expires_at: string
    created_at: string
    updated_at: string
  }
  /**
   * A person's way to sign in: a password, or an account at an identity provider. The provider's tokens are not stored.
   */
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
  /** Hashes of codes, links and states that can each be used once. */
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
    /** When the person has last looked at the workspace. Null: never, as far as is known. */
    looked_ms: number | null
  }
  /** Filters of lists under a name. */
  saved_views: {
    tenant_id: string
    /** The person. Empty: the views of the workspace's keys. */
    owner_id: string
    id: string
    name: string
    noun: 'sessions'
    filters: string
    created_at: string
  }
  invitations: {
    /** Empty: the invitation of the deployment's first owner, who owns the first workspace. */
    tenant_id: string
    id: string
    /** Null: the person who opens the link names an address. */
    email: string | null
    /** 1 when the link was mailed to the address, so that its use proves the address. */
    mailed: number
    role: MemberRole
    /** Null once the invitation is accepted. */
    token_hash: string | null
    /** The person or the key that invited. Null: a command of the operator. */
    invited_by: string | null
    accepted_by: string | null
    accepted_at: string | null
    expires_at: string
    created_at: string
  }
}
