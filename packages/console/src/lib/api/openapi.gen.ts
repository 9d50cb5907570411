// Written by: node scripts/console-types.ts
export interface paths {
    "/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List agents
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1Agents"];
        put?: never;
        /**
         * Create an agent
         * @description The agent begins with version 1. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1Agents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an agent
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1AgentsId"];
        /**
         * Update an agent
         * @description The same operation as `POST /v1/agents/{id}`. Changes the fields that are sent and keeps the others. A change that has an effect makes a new version; sessions that exist keep theirs. Send `version` to change the agent only if nobody else has. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        put: operations["putV1AgentsId"];
        /**
         * Update an agent
         * @description Changes the fields that are sent and keeps the others. A change that has an effect makes a new version; sessions that exist keep theirs. Send `version` to change the agent only if nobody else has. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1AgentsId"];
        /**
         * Archive an agent
         * @description The same operation as `POST /v1/agents/{id}/archive`. The agent takes no update and no new session. Its sessions go on, and its deployments are archived with it. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        delete: operations["deleteV1AgentsId"];
        options?: never;
        head?: never;
        /**
         * Update an agent
         * @description The same operation as `POST /v1/agents/{id}`. Changes the fields that are sent and keeps the others. A change that has an effect makes a new version; sessions that exist keep theirs. Send `version` to change the agent only if nobody else has. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        patch: operations["patchV1AgentsId"];
        trace?: never;
    };
    "/v1/agents/{id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive an agent
         * @description The agent takes no update and no new session. Its sessions go on, and its deployments are archived with it. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1AgentsIdArchive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of an agent
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1AgentsIdVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deployments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deployments
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1Deployments"];
        put?: never;
        /**
         * Create a deployment
         * @description Runs on its schedule, or by hand where it has none. What no session could be created from is refused now. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1Deployments"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List environments
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1Environments"];
        put?: never;
        /**
         * Create an environment
         * @description A name belongs to one environment that is not archived: a second one is refused with 409. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1Environments"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an environment
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1EnvironmentsId"];
        put?: never;
        /**
         * Update an environment
         * @description Only sandboxes that start afterwards see the change. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1EnvironmentsId"];
        /**
         * Delete an environment that nothing uses
         * @description Refused with 409 while an agent names the environment or a session that lives uses it. Needs a workspace key. Counted in the limit of writes.
         */
        delete: operations["deleteV1EnvironmentsId"];
        options?: never;
        head?: never;
        /**
         * Update an environment
         * @description The same operation as `POST /v1/environments/{id}`. Only sandboxes that start afterwards see the change. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        patch: operations["patchV1EnvironmentsId"];
        trace?: never;
    };
    "/v1/environments/{id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive an environment
         * @description The environment takes no update and no new session, and its name is free again. Its sessions go on. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1EnvironmentsIdArchive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{id}/work": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List work items
         * @description Needs a workspace key or the environment's key. Counted in the limit of reads.
         */
        get: operations["getV1EnvironmentsIdWork"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{id}/work/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get statistics of the queue
         * @description Needs a workspace key or the environment's key. Counted in the limit of reads.
         */
        get: operations["getV1EnvironmentsIdWorkStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/agents/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who made the versions of an agent
         * @description The newest first, without what they say. Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtAgentsIdVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/api_keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys, without their plaintext
         * @description Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtApiKeys"];
        put?: never;
        /**
         * Create a key
         * @description No other answer contains its value. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtApiKeys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/api_keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description The key is refused from the next request on, and what it has open ends. The last admin key of a workspace is not revoked: 409. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        delete: operations["deleteV1ExtApiKeysId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/audit/credential_changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what became of vaults, credentials and the keys of model cards, and by which key
         * @description Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtAuditCredentialChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/audit/credential_uses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the calls that carried a credential
         * @description Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtAuditCredentialUses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/auth/leave": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Leave the workspace
         * @description What you have made stays. The answer lists your valid keys of the workspace: they open it until they are revoked. Needs a session cookie. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtAuthLeave"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the password
         * @description All other sign-ins of the person end. Needs a session cookie. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtAuthPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/auth/sign_ins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List where you are signed in
         * @description Needs a session cookie. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtAuthSignIns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/auth/sign_ins/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Sign out another browser
         * @description Ends one of your sign-ins, and what it has open within seconds. Needs a session cookie. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        delete: operations["deleteV1ExtAuthSignInsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/auth/sign_out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign out
         * @description The answer removes the cookie. Needs a session cookie. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtAuthSignOut"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/auth/workspace": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Choose the workspace of requests that name none
         * @description Holds for this sign-in. A request with the header `anthropic-workspace-id` names its workspace itself. Needs a session cookie. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtAuthWorkspace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/holds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List holds
         * @description Those in force; with `include_released` all. Needs a workspace-admin key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtHolds"];
        put?: never;
        /**
         * Create a hold
         * @description While it is in force, neither retention nor a caller removes what it keeps. It is in force when the answer comes. Needs a workspace-admin key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtHolds"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List invitations
         * @description Needs a workspace-admin key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtInvitations"];
        put?: never;
        /**
         * Invite a person
         * @description The link is valid for seven days, and opens once. Needs a workspace-admin key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtInvitations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/invitations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Withdraw an invitation
         * @description Its link opens nothing from now on. Needs a workspace-admin key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        delete: operations["deleteV1ExtInvitationsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/mcp_probes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try an MCP server
         * @description Connects to it as a session does, with the credential of the vaults that belongs to its URL, lists its tools and leaves. A server that cannot be used is an answer and no error. It has 15 seconds. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtMcpProbes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the caller and its workspaces
         * @description For a key, `user` is null and its workspace is the only one. For a login, the workspace is the only one too. Needs a workspace key or a session cookie. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtMe"];
        put?: never;
        post?: never;
        /**
         * Delete your account
         * @description Ends your sign-ins, memberships and links to identity providers. What you have made stays; the answer lists your valid keys. Needs a session cookie. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        delete: operations["deleteV1ExtMe"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/me/looked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Note that the person has looked at the workspace
         * @description From now on the overview counts what has failed since then. Needs a session cookie. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtMeLooked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List members
         * @description Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtMembers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/members/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the role of a member
         * @description Where the role becomes smaller, the answer lists valid keys that the person has made: they do what they did until they are revoked. Needs a workspace-admin key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtMembersId"];
        /**
         * Remove a member
         * @description What the person has made stays. The answer lists valid keys that the person has made: they open the workspace until they are revoked. Needs a workspace-admin key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        delete: operations["deleteV1ExtMembersId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/model_cards": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List cards
         * @description Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtModelCards"];
        put?: never;
        /**
         * Create a model card
         * @description A key that the provider refuses is refused. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtModelCards"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/model_cards/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a card
         * @description Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtModelCardsId"];
        put?: never;
        /**
         * Update a model card
         * @description A new key is tried at the provider. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtModelCardsId"];
        /**
         * Delete a card
         * @description Agents that name the card find no model from their next turn on, unless the operator has a key for it. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        delete: operations["deleteV1ExtModelCardsId"];
        options?: never;
        head?: never;
        /**
         * Update a model card
         * @description The same operation as `POST /v1/ext/model_cards/{id}`. A new key is tried at the provider. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        patch: operations["patchV1ExtModelCardsId"];
        trace?: never;
    };
    "/v1/ext/model_cards/{id}/probe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Probe a model card
         * @description Asks the model for a few tokens, over each wire that is spoken here, for at most six seconds. What the provider says is the answer; the card stays as it is. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtModelCardsIdProbe"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/models/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List a provider's models in the built-in catalog
         * @description Asks nobody. With `api_key`, which is deprecated, the two providers with short names are asked for their list. A provider that the service does not know has no catalog. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtModelsList"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an overview of the workspace
         * @description What runs, what waits for whom, what failed, and what it costs. Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/quotas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the quotas of the workspace
         * @description Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtQuotas"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/quotas/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lower a quota of the workspace
         * @description A value above what the operator allows is kept, and the lower of the two holds. Needs a workspace-admin key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtQuotasName"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/retention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get how long the workspace keeps things, and what would go now
         * @description Needs a workspace-admin key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtRetention"];
        put?: never;
        /**
         * Change how long the workspace keeps things
         * @description Days beyond what the operator allows are kept as they were sent, and the lower of the two holds. What is old enough goes within an hour, in parts. Needs a workspace-admin key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtRetention"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what is allowed in the workspace
         * @description Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtRules"];
        put?: never;
        /**
         * Change what is allowed in the workspace
         * @description The workspace's lists narrow what the operator allows. They hold at once, for sessions that run too. Needs a workspace-admin key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtRules"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions in short
         * @description Without the prompts and tools of their agents, in one of five orders. Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a session in short
         * @description As the list shows it, with the number of its turns and how full the context of its primary thread is. Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtSessionsId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/sessions/{id}/allowances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List allowed tools
         * @description Tools that the session uses without asking, although its agent asks first. Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtSessionsIdAllowances"];
        put?: never;
        /**
         * Allow a tool for a session
         * @description From the next turn on its calls run without asking. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtSessionsIdAllowances"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/sessions/{id}/allowances/{tool}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Take an allowance back
         * @description From the next turn on the tool asks again. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        delete: operations["deleteV1ExtSessionsIdAllowancesTool"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/sessions/{id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what changed in the folder of a session
         * @description The net difference of two times, by whatever made it: added, changed, removed and renamed files, with unified diffs of texts. Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtSessionsIdChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/sessions/{id}/changes/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the turns of a session by whether their changes are known
         * @description The newest first. Changes are known where checkpoints of both ends are kept. Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtSessionsIdChangesTurns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/sessions/{id}/find": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find events
         * @description In the whole log of a session and of its threads. A page may be empty and still have a next one: a request searches so much and no more. Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtSessionsIdFind"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/sessions/{id}/folder": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a folder of a session
         * @description Folders first, by name. Links are neither followed nor left out. Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtSessionsIdFolder"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/sessions/{id}/folder/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a file of the folder of a session
         * @description As an attachment, 64 MiB of one answer at most. The headers `steward-folder-source` and `steward-folder-at` say where it is from. Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtSessionsIdFolderContent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/sessions/{id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fork a session
         * @description Makes a session with the history of this one up to an event. Needs a workspace key. Counted in the limit of sessions. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtSessionsIdFork"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/sessions/{id}/waiting_messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List waiting messages
         * @description Messages of people that no turn has taken yet, in their order. Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtSessionsIdWaitingMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/sessions/{id}/waiting_messages/{message}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change a waiting message
         * @description Replaces its text, unless a turn has taken it. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtSessionsIdWaitingMessagesMessage"];
        /**
         * Remove a waiting message
         * @description With the instructions that were posted behind it, unless a turn has taken it. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        delete: operations["deleteV1ExtSessionsIdWaitingMessagesMessage"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow a workspace as a stream (SSE)
         * @description What changes in it, and the events of chosen sessions with all their threads, over one connection. Resumes by `Last-Event-ID` for an hour; `stream.reset` says what could not be resumed. Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtStream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/token_estimates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Estimate the tokens of a prompt
         * @description Asks nobody. A request of a session also has what the service adds to the system prompt, the tools of MCP servers, and the conversation. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtTokenEstimates"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/views": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List saved views
         * @description Those of the person who asks. The keys of a workspace have their own. Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1ExtViews"];
        put?: never;
        /**
         * Save a view
         * @description At most 50 for each person. Whoever may read may save views. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1ExtViews"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ext/views/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a saved view
         * @description Of the person who asks, or of the keys. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        delete: operations["deleteV1ExtViewsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List files
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1Files"];
        put?: never;
        /**
         * Upload a file
         * @description With `session_id` the file appears in the sandbox of that session, without a restart. A file that is too large is refused with 413. Needs a workspace key. Counted in the limit of uploads.
         */
        post: operations["postV1Files"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a file
         * @description With `anthropic-version`, or where the request accepts JSON alone, its metadata instead. Needs a workspace key or the token of a claim, from a work item's secret. Counted in the limit of reads.
         */
        get: operations["getV1FilesId"];
        put?: never;
        post?: never;
        /**
         * Delete a file
         * @description Sessions that have a copy keep it. A copy of a session is removed from the resources of the session instead. Needs a workspace key. Counted in the limit of writes.
         */
        delete: operations["deleteV1FilesId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the content of a file
         * @description Always the bytes, whatever the dialect. Needs a workspace key or the token of a claim, from a work item's secret. Counted in the limit of reads.
         */
        get: operations["getV1FilesIdContent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory_stores": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List memory stores
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1MemoryStores"];
        put?: never;
        /**
         * Create a memory store
         * @description Attach it to sessions as `read_only` or `read_write`. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1MemoryStores"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory_stores/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a memory store
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1MemoryStoresId"];
        put?: never;
        /**
         * Update a memory store
         * @description Changes the name, the description and the metadata. Sessions show the name and the description from when the store was attached. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1MemoryStoresId"];
        /**
         * Delete a memory store, its memories and their versions
         * @description Sessions that have the store attached lose it, and nobody can bring it back. Needs a workspace key. Counted in the limit of writes.
         */
        delete: operations["deleteV1MemoryStoresId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory_stores/{id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive a memory store
         * @description From then on it is read only. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1MemoryStoresIdArchive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory_stores/{id}/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List memories
         * @description With depth 1, what lies directly below a prefix. Needs a workspace key or the token of a claim, from a work item's secret. Counted in the limit of reads.
         */
        get: operations["getV1MemoryStoresIdMemories"];
        put?: never;
        /**
         * Create a memory
         * @description A memory that is there already is not overwritten. Needs a workspace key or the token of a claim, from a work item's secret. Counted in the limit of writes.
         */
        post: operations["postV1MemoryStoresIdMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory_stores/{id}/memories/{memory_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a memory
         * @description Needs a workspace key or the token of a claim, from a work item's secret. Counted in the limit of reads.
         */
        get: operations["getV1MemoryStoresIdMemoriesMemoryId"];
        put?: never;
        /**
         * Update a memory
         * @description Changes the path or the content and makes a version. A `precondition` that fails is answered with 409 and changes nothing. Needs a workspace key or the token of a claim, from a work item's secret. Counted in the limit of writes.
         */
        post: operations["postV1MemoryStoresIdMemoriesMemoryId"];
        /**
         * Delete a memory
         * @description Its versions stay. Needs a workspace key or the token of a claim, from a work item's secret. Counted in the limit of writes.
         */
        delete: operations["deleteV1MemoryStoresIdMemoriesMemoryId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory_stores/{id}/memory_versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of memories
         * @description Each says who changed what. Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1MemoryStoresIdMemoryVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory_stores/{id}/memory_versions/{version_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a version
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1MemoryStoresIdMemoryVersionsVersionId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory_stores/{id}/memory_versions/{version_id}/redact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redact a version of a memory
         * @description Removes its content and keeps its place. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1MemoryStoresIdMemoryVersionsVersionIdRedact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the models that the workspace can run
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1Models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a model
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1ModelsId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organizations/api_keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys of the workspace
         * @description Needs a workspace-admin key. Counted in the limit of reads.
         */
        get: operations["getV1OrganizationsApiKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organizations/api_keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an API key of the workspace
         * @description Needs a workspace-admin key. Counted in the limit of reads.
         */
        get: operations["getV1OrganizationsApiKeysId"];
        put?: never;
        /**
         * Update an API key of the workspace
         * @description Renames, deactivates, activates or archives it. A key that is `inactive` opens nothing until it is `active` again; one that is `archived`, or was revoked by other ways, stays so. Needs a workspace-admin key. Counted in the limit of writes.
         */
        post: operations["postV1OrganizationsApiKeysId"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organizations/spend_limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the spend limits of the workspace
         * @description Needs a workspace-admin key. Counted in the limit of reads.
         */
        get: operations["getV1OrganizationsSpendLimits"];
        put?: never;
        /**
         * Set a spend limit of the workspace for each day or month
         * @description A limit that the workspace has set for the period before is overwritten. Of the limits of the workspace and of the operator the lower holds. Needs a workspace-admin key. Counted in the limit of writes.
         */
        post: operations["postV1OrganizationsSpendLimits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organizations/spend_limits/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a spend limit
         * @description Needs a workspace-admin key. Counted in the limit of reads.
         */
        get: operations["getV1OrganizationsSpendLimitsId"];
        put?: never;
        /**
         * Update a spend limit
         * @description Changes the amount, or switches the limit on or off; within a second in all processes. A limit of the operator is refused with 403. Needs a workspace-admin key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        post: operations["postV1OrganizationsSpendLimitsId"];
        /**
         * Remove a spend limit
         * @description Limits of the operator are not removed: 403. Needs a workspace-admin key. Counted in the limit of writes.
         */
        delete: operations["deleteV1OrganizationsSpendLimitsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organizations/workspaces/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a workspace
         * @description Needs a workspace key or a session cookie. Counted in the limit of reads.
         */
        get: operations["getV1OrganizationsWorkspacesId"];
        put?: never;
        /**
         * Rename a workspace
         * @description For its admins and owners. Needs a workspace-admin key or a session cookie. Counted in the limit of writes.
         */
        post: operations["postV1OrganizationsWorkspacesId"];
        /**
         * Delete a workspace
         * @description For an owner, once the workspace is archived. Everything of the workspace is removed soon after: nobody can bring it back. Needs a session cookie. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        delete: operations["deleteV1OrganizationsWorkspacesId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organizations/workspaces/{id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive a workspace
         * @description For an owner. All keys of the workspace are revoked, and its members reach it no more. Turns that run come to their end. Needs a session cookie. Counted in the limit of writes.
         */
        post: operations["postV1OrganizationsWorkspacesIdArchive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organizations/workspaces/{id}/rate_limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the rate limits of the workspace
         * @description Needs a workspace-admin key. Counted in the limit of reads.
         */
        get: operations["getV1OrganizationsWorkspacesIdRateLimits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organizations/workspaces/{id}/rate_limits/{rate_limit_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lower a rate limit of the workspace
         * @description A value above what the operator allows is kept, and the lower of the two holds. Needs a workspace-admin key. Counted in the limit of writes.
         */
        post: operations["postV1OrganizationsWorkspacesIdRateLimitsRateLimitId"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1Sessions"];
        put?: never;
        /**
         * Create a session
         * @description Pins the version of the agent. With `initial_events` the session runs at once; without, it waits for a message. No sandbox starts before a tool needs one. Needs a workspace key. Counted in the limit of sessions.
         */
        post: operations["postV1Sessions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a session
         * @description Needs a workspace key or the token of a claim, from a work item's secret. Counted in the limit of reads.
         */
        get: operations["getV1SessionsId"];
        put?: never;
        /**
         * Update a session
         * @description Changes the title, the metadata, the budget, and the tools and MCP servers of this session alone. Tools count from the next turn; while a turn runs they are refused with 400. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1SessionsId"];
        /**
         * Delete a session
         * @description The session and its files are answered with 404 from now on. Refused with 400 while a turn runs. Needs a workspace key. Counted in the limit of writes.
         */
        delete: operations["deleteV1SessionsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive a session
         * @description Ends the session and keeps its record: it can be read and takes no further events. Refused with 400 while a turn runs. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1SessionsIdArchive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List events
         * @description Answers a stream where the request accepts text/event-stream. Needs a workspace key or the token of a claim, from a work item's secret. Counted in the limit of reads.
         */
        get: operations["getV1SessionsIdEvents"];
        put?: never;
        /**
         * Post events
         * @description Answers 202 without a body, or the events to the official client. Needs a workspace key or the token of a claim, from a work item's secret. Counted in the limit of writes.
         */
        post: operations["postV1SessionsIdEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/events/{event_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an event
         * @description Whole, whatever its type and its thread. Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1SessionsIdEventsEventId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List skills, the built-in ones among them
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1Skills"];
        put?: never;
        /**
         * Create a skill
         * @description From the files of a form, or from JSON with the texts of its files. Needs a workspace key. Counted in the limit of uploads.
         */
        post: operations["postV1Skills"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a skill
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1SkillsId"];
        put?: never;
        post?: never;
        /**
         * Delete a skill and its versions
         * @description Sessions go on without the skill, and their agents are told. Built-in skills are refused. Needs a workspace key. Counted in the limit of writes.
         */
        delete: operations["deleteV1SkillsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of a skill
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1SkillsIdVersions"];
        put?: never;
        /**
         * Add a version of a skill
         * @description Sessions keep the versions that they have. A version with another name in SKILL.md is refused. Needs a workspace key. Counted in the limit of uploads.
         */
        post: operations["postV1SkillsIdVersions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills/{id}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a version of a skill by its number, its id, or as latest
         * @description Needs a workspace key or the token of a claim, from a work item's secret. Counted in the limit of reads.
         */
        get: operations["getV1SkillsIdVersionsVersion"];
        put?: never;
        post?: never;
        /**
         * Delete a version of a skill
         * @description Sessions that have the version go on without the skill. The last version of a skill is refused with 400. Needs a workspace key. Counted in the limit of writes.
         */
        delete: operations["deleteV1SkillsIdVersionsVersion"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills/{id}/versions/{version}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a version as a zip archive with one folder
         * @description Needs a workspace key or the token of a claim, from a work item's secret. Counted in the limit of reads.
         */
        get: operations["getV1SkillsIdVersionsVersionContent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills/{id}/versions/{version}/files/{filename}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a file of a version
         * @description Encode the slashes of the name. Needs a workspace key. Counted in the limit of reads. An extension of Steward: the official interface does not have it.
         */
        get: operations["getV1SkillsIdVersionsVersionFilesFilename"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vaults": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List vaults
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1Vaults"];
        put?: never;
        /**
         * Create a vault
         * @description Its body may bring credentials. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1Vaults"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vaults/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a vault
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1VaultsId"];
        put?: never;
        /**
         * Update a vault
         * @description Credentials in the body are written anew. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1VaultsId"];
        /**
         * Delete a vault and all it holds
         * @description Removes the vault, its credentials and their secrets. Calls of running sessions carry none of them from now on. Needs a workspace key. Counted in the limit of writes.
         */
        delete: operations["deleteV1VaultsId"];
        options?: never;
        head?: never;
        /**
         * Update a vault
         * @description The same operation as `POST /v1/vaults/{id}`. Credentials in the body are written anew. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        patch: operations["patchV1VaultsId"];
        trace?: never;
    };
    "/v1/vaults/{id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive a vault
         * @description Its secrets are deleted at once. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1VaultsIdArchive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vaults/{id}/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the credentials of a vault
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1VaultsIdCredentials"];
        put?: never;
        /**
         * Create a credential
         * @description No answer contains its secret. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1VaultsIdCredentials"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vaults/{id}/credentials/{credential_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a credential
         * @description Needs a workspace key. Counted in the limit of reads.
         */
        get: operations["getV1VaultsIdCredentialsCredentialId"];
        put?: never;
        /**
         * Update a credential
         * @description Also rotates its secret. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1VaultsIdCredentialsCredentialId"];
        /**
         * Delete a credential
         * @description Removes the credential and its secret. Calls of running sessions do not carry it from now on. Needs a workspace key. Counted in the limit of writes.
         */
        delete: operations["deleteV1VaultsIdCredentialsCredentialId"];
        options?: never;
        head?: never;
        /**
         * Update a credential
         * @description The same operation as `POST /v1/vaults/{id}/credentials/{credential_id}`. Also rotates its secret. Needs a workspace key. Counted in the limit of writes. An extension of Steward: the official interface does not have it.
         */
        patch: operations["patchV1VaultsIdCredentialsCredentialId"];
        trace?: never;
    };
    "/v1/vaults/{id}/credentials/{credential_id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive a credential
         * @description Its secret is deleted, and another credential may take its place. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1VaultsIdCredentialsCredentialIdArchive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vaults/{id}/credentials/{credential_id}/mcp_oauth_validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate an OAuth credential
         * @description Asks the MCP server with the token, and refreshes the token where the server refuses it. The answer says what each of them said. Needs a workspace key. Counted in the limit of writes.
         */
        post: operations["postV1VaultsIdCredentialsCredentialIdMcpOauthValidate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Who has changed a memory: a key, a person or a session. */
        Actor: components["schemas"]["ActorApiActor"] | components["schemas"]["ActorUserActor"] | components["schemas"]["ActorSessionActor"];
        /** @description A model that the primary thread may ask for advice. It has the name `anthropic.advisor`. */
        Advisor: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "advisor";
            /** @description The identifier of a model. */
            model: string;
        };
        /** @description An agent: a model with instructions, tools and skills. */
        Agent: {
            id: string;
            /** @constant */
            type: "agent";
            /** @description Begins at 1; every change raises it. */
            version: number;
            name: string;
            description: string | null;
            /** @description The system prompt, or null. */
            system: string | null;
            /** @description A model: its identifier, or an object that names a model card. */
            model: string | components["schemas"]["ModelConfig"];
            /** @description Toolsets and tools of your own, at most 256 tools in all. */
            tools: (components["schemas"]["AgentToolset20260401"] | components["schemas"]["MCPToolset"] | components["schemas"]["CustomTool"])[];
            /** @description The MCP servers, without their tokens. */
            mcp_servers: components["schemas"]["MCPServerShown"][];
            /** @description The skills, each with its version. */
            skills: components["schemas"]["SkillParams"][];
            /** @description Who the agent acts as: always `service_account`. */
            execution_identity: {
                /** @constant */
                type: "service_account";
            } & {
                [key: string]: unknown;
            };
            metadata: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description The environment of sessions that name none. */
            environment_id: string | null;
            /** @description A memory store that every session of the agent may read and write. */
            memory_store_id: string | null;
            /** @description What runs the turns of its sessions. */
            harness: string;
            /** @description The form of the texts that it writes. */
            answers?: components["schemas"]["Answers"];
            /** @description Most threads that it may have working at one time. */
            max_concurrent_subagents?: number;
            /** @description How the agent works with other agents. Null: it works alone. */
            multiagent: (components["schemas"]["MultiagentCoordinator"] | components["schemas"]["Multiagent20261001"]) | null;
            /** @description Whether it was archived. */
            archived: boolean;
            /** @description When it was archived, or null. */
            archived_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
        } & {
            [key: string]: unknown;
        };
        /** @description The advisor has answered, or has failed. */
        AgentAdvisorToolResultEvent: {
            id: string;
            /** @constant */
            type: "agent.advisor_tool_result";
            /** @description The id of the event that made the call. */
            tool_use_id: string;
            /** @description What the model reads. */
            content?: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"] | components["schemas"]["DocumentBlock"] | components["schemas"]["SearchResultBlock"])[] | null;
            /** @description Whether the call has failed. */
            is_error?: boolean | null;
            /** @description On the stream of the session: the child thread that the event belongs to. */
            session_thread_id?: string | null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The model asks its advisor. */
        AgentAdvisorToolUseEvent: {
            id: string;
            /** @constant */
            type: "agent.advisor_tool_use";
            /** @description On the stream of the session: the child thread that the event belongs to. */
            session_thread_id?: string | null;
            name: string;
            /** @description As the model wrote it. */
            input: {
                [key: string]: unknown;
            };
            /**
             * @description `ask`: the call waits for a `user.tool_confirmation`.
             * @enum {string}
             */
            evaluated_permission?: "allow" | "ask" | "deny";
            /** @description The permission policy by which the call was judged. */
            evaluation?: {
                /** @enum {string} */
                type: "always_allow" | "always_ask";
            } | {
                /** @constant */
                type: "auto";
                /** @description What the policy has decided. */
                evaluated_permission: {
                    /** @constant */
                    type: "ask";
                    /** @constant */
                    reason_code: "indeterminate";
                };
            };
            /**
             * @description A worker runs the call and posts its `user.tool_result`.
             * @constant
             */
            executed_by?: "worker";
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "name": "Reviewer",
         *       "model": "offline",
         *       "system": "You review pull requests. Run the tests before you answer.",
         *       "tools": [
         *         {
         *           "type": "agent_toolset_20260401"
         *         }
         *       ]
         *     }
         * @example {
         *       "name": "Lead",
         *       "model": "offline",
         *       "tools": [],
         *       "multiagent": {
         *         "type": "coordinator",
         *         "agents": [
         *           "agent_018f3c2a7b1d7000a1b2c3d4e5f60718",
         *           {
         *             "type": "self"
         *           }
         *         ]
         *       }
         *     }
         */
        AgentCreateParams: {
            /** @description A model: its identifier, or an object that names a model card. */
            model: string | components["schemas"]["ModelConfigParams"];
            /** @description What people call the agent. */
            name: string;
            /** @description What the agent is for. */
            description?: string | null;
            /** @description The system prompt: who the agent is and how it works. */
            system?: string | null;
            /** @description Toolsets and tools of your own, at most 256 tools in all. An update replaces all of them. */
            tools?: (components["schemas"]["AgentToolset20260401Params"] | components["schemas"]["MCPToolset"] | components["schemas"]["CustomTool"])[] | null;
            /** @description MCP servers, at most 20, each name once. */
            mcp_servers?: components["schemas"]["MCPServer"][] | null;
            /** @description Skills that sessions of the agent have. */
            skills?: (components["schemas"]["SkillParams"] | string)[] | null;
            /** @description The environment of sessions that name none. */
            environment_id?: string | null;
            /** @description A memory store that every session of the agent may read and write. */
            memory_store_id?: string | null;
            /** @description What runs the turns of its sessions. */
            harness?: ("default" | "native") | null;
            /** @description The form of the texts that it writes. */
            answers?: components["schemas"]["Answers"] | null;
            /** @description Most threads that it may have working at one time; 25 when absent. */
            max_concurrent_subagents?: number | null;
            metadata?: components["schemas"]["AgentMetadata"] | null;
            /** @description The agents that it may start as threads of its session, and its advisor. Null: it works alone. */
            multiagent?: components["schemas"]["MultiagentParams"] | null;
            /** @description Only `service_account` is supported. */
            execution_identity?: {
                /** @constant */
                type: "service_account";
            } | null;
        };
        /** @description The model calls a custom tool; a client answers with `user.custom_tool_result`. */
        AgentCustomToolUseEvent: {
            id: string;
            /** @constant */
            type: "agent.custom_tool_use";
            name: string;
            /** @description As the model wrote it. */
            input: {
                [key: string]: unknown;
            };
            /** @description On the stream of the session: the child thread that the event belongs to. */
            session_thread_id?: string | null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description A signed token that says which agent calls. It has no secret to store. */
        AgentIdentityCreateParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "agent_identity";
            /** @description `aud` of the token: what the server expects. */
            audience: string;
            /** @description The MCP server that gets the token; it does not change. */
            mcp_server_url?: string | null;
            /**
             * @description Hosts that get the token over https: hostnames, IPv4 addresses or `*.suffix`.
             * @default []
             */
            allowed_hosts: string[];
            /**
             * @description Seconds for which a token is valid, 30 to 600; 300 when absent.
             * @default 300
             */
            ttl_seconds: number;
            /**
             * @description Further texts, which stand together below `claims` in the token.
             * @default {}
             */
            claims: {
                [key: string]: string;
            };
        };
        /** @description What later tokens say, and other hosts. */
        AgentIdentityUpdateParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "agent_identity";
            audience?: string | null;
            allowed_hosts?: string[] | null;
            ttl_seconds?: number | null;
            claims?: {
                [key: string]: string;
            } | null;
        };
        /** @description The call of a tool of an MCP server has ended. */
        AgentMCPToolResultEvent: {
            id: string;
            /** @constant */
            type: "agent.mcp_tool_result";
            /** @description The id of the event that made the call. */
            mcp_tool_use_id: string;
            /** @description What the model reads. */
            content?: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"] | components["schemas"]["DocumentBlock"] | components["schemas"]["SearchResultBlock"])[] | null;
            /** @description Whether the call has failed. */
            is_error?: boolean | null;
            /** @description On the stream of the session: the child thread that the event belongs to. */
            session_thread_id?: string | null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The model calls a tool of an MCP server. */
        AgentMCPToolUseEvent: {
            id: string;
            /** @constant */
            type: "agent.mcp_tool_use";
            /** @description On the stream of the session: the child thread that the event belongs to. */
            session_thread_id?: string | null;
            name: string;
            /** @description As the model wrote it. */
            input: {
                [key: string]: unknown;
            };
            /**
             * @description `ask`: the call waits for a `user.tool_confirmation`.
             * @enum {string}
             */
            evaluated_permission?: "allow" | "ask" | "deny";
            /** @description The permission policy by which the call was judged. */
            evaluation?: {
                /** @enum {string} */
                type: "always_allow" | "always_ask";
            } | {
                /** @constant */
                type: "auto";
                /** @description What the policy has decided. */
                evaluated_permission: {
                    /** @constant */
                    type: "ask";
                    /** @constant */
                    reason_code: "indeterminate";
                };
            };
            /**
             * @description A worker runs the call and posts its `user.tool_result`.
             * @constant
             */
            executed_by?: "worker";
            /** @description The name of the MCP server. */
            mcp_server_name: string;
            /** @description The name that the server gives the tool. */
            mcp_tool_name: string;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description A piece of a message of the model. */
        AgentMessageChunkEvent: {
            /** @constant */
            type: "agent.message_chunk";
            /** @description The id of the event that holds the whole text later. */
            message_id: string;
            /** @description The next piece of the text. */
            delta: string;
            session_id: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The model has written a message. */
        AgentMessageEvent: {
            id: string;
            /** @constant */
            type: "agent.message";
            /** @description The whole message. */
            content: components["schemas"]["TextBlock"][];
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The end of a message of the model. */
        AgentMessageStreamEndEvent: {
            /** @constant */
            type: "agent.message_stream_end";
            /** @description The id of the event that holds the whole text later. */
            message_id: string;
            session_id: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The beginning of a message of the model. */
        AgentMessageStreamStartEvent: {
            /** @constant */
            type: "agent.message_stream_start";
            /** @description The id of the event that holds the whole text later. */
            message_id: string;
            /** @description The tool, where there is one. */
            name?: string;
            session_id: string;
        } & {
            [key: string]: unknown;
        };
        /** @description Pairs of your own: at most 16, values of any JSON type. The keys `compaction_…` set how long conversations are shortened. */
        AgentMetadata: {
            [key: string]: components["schemas"]["JsonValue"];
        };
        /** @description An agent at one version. */
        AgentParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "agent";
            id: string;
            /** @description The newest version when absent. */
            version?: number;
        };
        /** @description One version of an agent. */
        AgentReference: {
            /** @constant */
            type: "agent";
            id: string;
            /** @description The version that is pinned. */
            version: number;
        };
        /** @description A piece of the thinking of the model. */
        AgentThinkingChunkEvent: {
            /** @constant */
            type: "agent.thinking_chunk";
            /** @description The id of the event that holds the whole text later. */
            thinking_id: string;
            /** @description The next piece of the text. */
            delta: string;
            session_id: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The model has thought. */
        AgentThinkingEvent: {
            id: string;
            /** @constant */
            type: "agent.thinking";
            /** @description The whole block of thinking. */
            thinking: string;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The end of the thinking of the model. */
        AgentThinkingStreamEndEvent: {
            /** @constant */
            type: "agent.thinking_stream_end";
            /** @description The id of the event that holds the whole text later. */
            thinking_id: string;
            session_id: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The beginning of the thinking of the model. */
        AgentThinkingStreamStartEvent: {
            /** @constant */
            type: "agent.thinking_stream_start";
            /** @description The id of the event that holds the whole text later. */
            thinking_id: string;
            /** @description The tool, where there is one. */
            name?: string;
            session_id: string;
        } & {
            [key: string]: unknown;
        };
        /** @description A summary has taken the place of the older conversation. */
        AgentThreadContextCompactedEvent: {
            id: string;
            /** @constant */
            type: "agent.thread_context_compacted";
            /** @description Who wrote the summary; null for a shortened transcript. */
            strategy: string | null;
            /** @description What stands in the place of the older messages. */
            summary?: string;
            /** @description What the summary has replaced, and what has stayed. */
            messages?: {
                /** @description Messages for the model that are gone. */
                replaced: number;
                /** @description Messages that stay, some of them with shortened results. */
                kept: number;
            };
            /** @description What the next request to the model would have read, about. */
            tokens?: {
                /** @description With the whole conversation. */
                before: number;
                /** @description With the summary. */
                after: number;
            };
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description Another thread has sent a message to this one. Without a name it is the primary thread. */
        AgentThreadMessageReceivedEvent: {
            id: string;
            /** @constant */
            type: "agent.thread_message_received";
            /** @description The thread that has sent the message. */
            from_session_thread_id: string;
            /** @description The name of the agent of that thread. */
            from_agent_name?: string;
            /** @description What the message says. */
            content: components["schemas"]["TextBlock"][];
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description This thread has sent a message to another one. Without a name it is the primary thread. */
        AgentThreadMessageSentEvent: {
            id: string;
            /** @constant */
            type: "agent.thread_message_sent";
            /** @description The thread that gets the message. */
            to_session_thread_id: string;
            /** @description The name of the agent of that thread. */
            to_agent_name?: string;
            /** @description What the message says. */
            content: components["schemas"]["TextBlock"][];
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description What one built-in tool may do. */
        AgentToolConfig: {
            /** @enum {string} */
            name: "bash" | "read" | "write" | "edit" | "glob" | "grep" | "web_fetch" | "web_search";
            /** @enum {string} */
            type?: "bash" | "read" | "write" | "edit" | "glob" | "grep" | "web_fetch" | "web_search";
            /** @description Whether the agent has the tool. */
            enabled?: boolean | null;
            /** @description Whether a call runs at once or asks. When absent: that of `default_config`. */
            permission_policy?: components["schemas"]["PermissionPolicy"] | null;
            /** @description Only these domains, and those below them. */
            allowed_domains?: string[] | null;
            /** @description None of these domains, and none below them. */
            blocked_domains?: string[] | null;
            /** @description Tokens of one fetched page at most. */
            max_content_tokens?: number | null;
            /** @description Where a URL may come from that the tool fetches. */
            url_sources?: {
                /** @description Results of tools that a client answers. */
                client_tool_results?: (unknown | {
                    /** @enum {string} */
                    type: "all" | "none";
                } | {
                    /** @enum {string} */
                    type: "only" | "except";
                    /** @description The tools whose results are meant, each once. */
                    tools: {
                        /** @constant */
                        type: "tool_reference";
                        name: string;
                    }[];
                }) | null;
                /** @description Results of tools that the service runs. */
                server_tool_results?: (unknown | {
                    /** @enum {string} */
                    type: "all" | "none";
                } | {
                    /** @enum {string} */
                    type: "only" | "except";
                    /** @description The tools whose results are meant, each once. */
                    tools: {
                        /** @constant */
                        type: "tool_reference";
                        /** @enum {string} */
                        name: "web_search" | "web_fetch";
                    }[];
                }) | null;
                /** @description Messages of the user. */
                user_input?: (unknown | {
                    /** @enum {string} */
                    type: "all" | "none";
                }) | null;
            } | null;
            /** @description For results of the web search that suit a place. */
            user_location?: {
                /** @constant */
                type: "approximate";
                /** @description The name of the city. */
                city?: string | null;
                /** @description The country, as two letters. */
                country?: string | null;
                /** @description The region or state. */
                region?: string | null;
                /** @description The time zone, such as `Europe/Berlin`. */
                timezone?: string | null;
            } | null;
        };
        /** @description What one built-in tool may do. */
        AgentToolConfigParams: {
            /** @enum {string} */
            name: "bash" | "read" | "write" | "edit" | "glob" | "grep" | "web_fetch" | "web_search";
            /** @enum {string} */
            type?: "bash" | "read" | "write" | "edit" | "glob" | "grep" | "web_fetch" | "web_search";
            /** @description Whether the agent has the tool. */
            enabled?: boolean | null;
            /** @description Whether a call runs at once or asks. When absent: that of `default_config`. */
            permission_policy?: components["schemas"]["PermissionPolicy"] | null;
            /** @description Only these domains, and those below them. */
            allowed_domains?: string[] | null;
            /** @description None of these domains, and none below them. */
            blocked_domains?: string[] | null;
            /** @description Tokens of one fetched page at most. */
            max_content_tokens?: number | null;
            /** @description Where a URL may come from that the tool fetches. */
            url_sources?: {
                /** @description Results of tools that a client answers. */
                client_tool_results?: (("all" | "none") | {
                    /** @enum {string} */
                    type: "all" | "none";
                } | {
                    /** @enum {string} */
                    type: "only" | "except";
                    /** @description The tools whose results are meant, each once. */
                    tools: {
                        /** @constant */
                        type: "tool_reference";
                        name: string;
                    }[];
                }) | null;
                /** @description Results of tools that the service runs. */
                server_tool_results?: (("all" | "none") | {
                    /** @enum {string} */
                    type: "all" | "none";
                } | {
                    /** @enum {string} */
                    type: "only" | "except";
                    /** @description The tools whose results are meant, each once. */
                    tools: {
                        /** @constant */
                        type: "tool_reference";
                        /** @enum {string} */
                        name: "web_search" | "web_fetch";
                    }[];
                }) | null;
                /** @description Messages of the user. */
                user_input?: (("all" | "none") | {
                    /** @enum {string} */
                    type: "all" | "none";
                }) | null;
            } | null;
            /** @description For results of the web search that suit a place. */
            user_location?: {
                /** @constant */
                type: "approximate";
                /** @description The name of the city. */
                city?: string | null;
                /** @description The country, as two letters. */
                country?: string | null;
                /** @description The region or state. */
                region?: string | null;
                /** @description The time zone, such as `Europe/Berlin`. */
                timezone?: string | null;
            } | null;
        };
        /** @description The call of a built-in tool has ended. */
        AgentToolResultEvent: {
            id: string;
            /** @constant */
            type: "agent.tool_result";
            /** @description The id of the event that made the call. */
            tool_use_id: string;
            /** @description What the model reads. */
            content?: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"] | components["schemas"]["DocumentBlock"] | components["schemas"]["SearchResultBlock"])[] | null;
            /** @description Whether the call has failed. */
            is_error?: boolean | null;
            /** @description On the stream of the session: the child thread that the event belongs to. */
            session_thread_id?: string | null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The model calls a built-in tool. */
        AgentToolUseEvent: {
            id: string;
            /** @constant */
            type: "agent.tool_use";
            /** @description On the stream of the session: the child thread that the event belongs to. */
            session_thread_id?: string | null;
            name: string;
            /** @description As the model wrote it. */
            input: {
                [key: string]: unknown;
            };
            /**
             * @description `ask`: the call waits for a `user.tool_confirmation`.
             * @enum {string}
             */
            evaluated_permission?: "allow" | "ask" | "deny";
            /** @description The permission policy by which the call was judged. */
            evaluation?: {
                /** @enum {string} */
                type: "always_allow" | "always_ask";
            } | {
                /** @constant */
                type: "auto";
                /** @description What the policy has decided. */
                evaluated_permission: {
                    /** @constant */
                    type: "ask";
                    /** @constant */
                    reason_code: "indeterminate";
                };
            };
            /**
             * @description A worker runs the call and posts its `user.tool_result`.
             * @constant
             */
            executed_by?: "worker";
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description A piece of the input of a tool call. */
        AgentToolUseInputChunkEvent: {
            /** @constant */
            type: "agent.tool_use_input_chunk";
            /** @description The id of the event that holds the whole text later. */
            tool_use_id: string;
            /** @description The next piece of the text. */
            delta: string;
            session_id: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The end of the input of a tool call. */
        AgentToolUseInputStreamEndEvent: {
            /** @constant */
            type: "agent.tool_use_input_stream_end";
            /** @description The id of the event that holds the whole text later. */
            tool_use_id: string;
            session_id: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The beginning of the input of a tool call. */
        AgentToolUseInputStreamStartEvent: {
            /** @constant */
            type: "agent.tool_use_input_stream_start";
            /** @description The id of the event that holds the whole text later. */
            tool_use_id: string;
            /** @description The tool, where there is one. */
            name?: string;
            session_id: string;
        } & {
            [key: string]: unknown;
        };
        /** @description What the running command of a tool call writes. */
        AgentToolUseOutputChunkEvent: {
            /** @constant */
            type: "agent.tool_use_output_chunk";
            /** @description The call. */
            tool_use_id: string;
            /** @description The next piece, or the end of all to who lacks pieces. */
            delta: string;
            /** @description Bytes of the output before the piece. */
            offset: number;
            /** @description Bytes of the output up to the end of the piece. */
            end_offset: number;
            /** @description Bytes of the output so far. */
            total_bytes: number;
            /** @description Milliseconds since the last byte, or since the beginning. */
            quiet_ms: number;
            session_id: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The built-in tools: commands, files and the web. */
        AgentToolset20260401: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "agent_toolset_20260401";
            default_config?: components["schemas"]["ToolsetDefaultConfig"] | null;
            /** @description Single tools, each name once. */
            configs?: components["schemas"]["AgentToolConfig"][] | null;
            /** @description The tool by which the agent goes on at a time. Absent: the agent has no such tool. */
            schedule_wakeup?: components["schemas"]["ToolsetDefaultConfig"] | null;
            /** @description The tool by which the agent manages automations of its own session. Absent: the agent has no such tool. */
            automations?: components["schemas"]["ToolsetDefaultConfig"] | null;
        };
        /** @description The built-in tools: commands, files and the web. */
        AgentToolset20260401Params: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "agent_toolset_20260401";
            default_config?: components["schemas"]["ToolsetDefaultConfig"] | null;
            /** @description Single tools, each name once. */
            configs?: components["schemas"]["AgentToolConfigParams"][] | null;
            /** @description The tool by which the agent goes on at a time. Absent: the agent has no such tool. */
            schedule_wakeup?: components["schemas"]["ToolsetDefaultConfig"] | null;
            /** @description The tool by which the agent manages automations of its own session. Absent: the agent has no such tool. */
            automations?: components["schemas"]["ToolsetDefaultConfig"] | null;
        };
        /**
         * @example {
         *       "description": "Reviews pull requests"
         *     }
         */
        AgentUpdateParams: {
            /** @description A model: its identifier, or an object that names a model card. */
            model?: string | components["schemas"]["ModelConfigParams"];
            /** @description What people call the agent. */
            name?: string;
            /** @description What the agent is for. */
            description?: string | null;
            /** @description The system prompt: who the agent is and how it works. */
            system?: string | null;
            /** @description Toolsets and tools of your own, at most 256 tools in all. An update replaces all of them. */
            tools?: (components["schemas"]["AgentToolset20260401Params"] | components["schemas"]["MCPToolset"] | components["schemas"]["CustomTool"])[] | null;
            /** @description MCP servers, at most 20, each name once. */
            mcp_servers?: components["schemas"]["MCPServer"][] | null;
            /** @description Skills that sessions of the agent have. */
            skills?: (components["schemas"]["SkillParams"] | string)[] | null;
            /** @description The environment of sessions that name none. */
            environment_id?: string | null;
            /** @description A memory store that every session of the agent may read and write. */
            memory_store_id?: string | null;
            /** @description What runs the turns of its sessions. */
            harness?: ("default" | "native") | null;
            /** @description The form of the texts that it writes. */
            answers?: components["schemas"]["Answers"] | null;
            /** @description Most threads that it may have working at one time; 25 when absent. */
            max_concurrent_subagents?: number | null;
            metadata?: components["schemas"]["AgentMetadata"] | null;
            /** @description The agents that it may start as threads of its session, and its advisor. Null: it works alone. */
            multiagent?: components["schemas"]["MultiagentParams"] | null;
            /** @description Only `service_account` is supported. */
            execution_identity?: {
                /** @constant */
                type: "service_account";
            } | null;
            /** @description The version that you have read: 409 where the agent has another by now. */
            version?: number;
        };
        /** @description When and by whom a version was made. */
        AgentVersionSummary: {
            /** @constant */
            type: "agent_version_summary";
            agent_id: string;
            /** @description The number of the version. */
            version: number;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description Who or what has made this version. Null for one of an earlier version of the service. */
            created_by: {
                /** @description `api_key`, `user`, `deployment`, `eval_run` and others, as the audit has them. */
                type: string;
                id: string | null;
                /** @description The name at that time. */
                name: string | null;
            } | null;
        };
        /** @description An agent whose named fields are replaced, for this session only. */
        AgentWithOverridesParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "agent_with_overrides";
            id: string;
            /** @description The newest version when absent. */
            version?: number;
            /** @description A model: its identifier, or an object that names a model card. */
            model?: string | components["schemas"]["ModelConfigParams"];
            /** @description The system prompt; null or empty: none. */
            system?: string | null;
            /** @description Replaces all tools; null or empty: none. */
            tools?: (components["schemas"]["AgentToolset20260401Params"] | components["schemas"]["MCPToolset"] | components["schemas"]["CustomTool"])[] | null;
            /** @description Replaces all MCP servers; null or empty: none. */
            mcp_servers?: components["schemas"]["MCPServer"][] | null;
            /** @description Replaces all skills; null or empty: none. */
            skills?: (components["schemas"]["SkillParams"] | string)[] | null;
        };
        /** @description A tool that one session uses without asking. */
        Allowance: {
            /** @constant */
            type: "allowance";
            /** @description Its calls run without asking from the next turn on. */
            tool: string;
            /** @description Who has allowed it. */
            created_by: {
                type: string;
                id: string | null;
                name: string | null;
            } | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
        };
        /**
         * @example {
         *       "tool": "bash"
         *     }
         */
        AllowanceCreateParams: {
            /** @description The name of the tool, as its calls have it in `name`. */
            tool: string;
        };
        /** @description The form of the texts that an agent writes. */
        Answers: {
            /**
             * @description How much the agent writes; its prompt says so. `medium` when absent.
             * @enum {string}
             */
            verbosity?: "low" | "medium" | "high";
            /** @description A JSON Schema of the texts. The provider is asked for strict output, and the prompt has the schema. */
            schema?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
        };
        /** @description A key, without its value. */
        ApiKey: {
            id: string;
            /** @constant */
            type: "api_key";
            name: string;
            /**
             * @description `environment` for a key of workers, `oauth` for the login of a client.
             * @enum {string}
             */
            kind: "workspace" | "environment" | "oauth";
            /** @description Whether it is a workspace-admin key. */
            admin: boolean;
            /** @description Whether the key reads and changes nothing. */
            read_only: boolean;
            environment_id: string | null;
            /** @description Of a login, its client. Null for a key. */
            client_id: string | null;
            /** @description Null for a workspace key. */
            reach: ("work" | "sessions") | null;
            /** @description Enough of the key to recognise it. */
            preview: string;
            /** @description The person or the key that made it; null for an operator. */
            created_by: string | null;
            /** @description When the key was last used: the first use within seconds, later uses within ten minutes. Null for a key that never was. */
            last_used_at: components["schemas"]["Timestamp"] | null;
            /** @description When the key stops working, or null. */
            expires_at: components["schemas"]["Timestamp"] | null;
            /** @description When the key was revoked, or null. */
            revoked_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
        };
        /**
         * @example {
         *       "name": "workers",
         *       "environment_id": "env_018f3c2a7b1d7002a1b2c3d4e5f60718",
         *       "reach": "sessions"
         *     }
         */
        ApiKeyCreateParams: {
            /** @description What the key is for. */
            name: string;
            /** @description Makes it an environment key: only for the work of this environment. */
            environment_id?: string | null;
            /** @description Of an environment key, `work` when absent. `sessions`: it also opens what a claim token opens, memory stores excepted, of each session whose work item of the environment is claimed at that moment. */
            reach?: ("work" | "sessions") | null;
            /** @description Makes it a workspace-admin key. */
            admin?: boolean | null;
            /** @description Makes it a workspace key that reads and changes nothing. */
            read_only?: boolean | null;
            /** @description When the key stops working. */
            expires_at?: components["schemas"]["Timestamp"] | null;
        };
        /** @description A key with its value. */
        ApiKeyWithValue: {
            id: string;
            /** @constant */
            type: "api_key";
            name: string;
            /**
             * @description `environment` for a key of workers, `oauth` for the login of a client.
             * @enum {string}
             */
            kind: "workspace" | "environment" | "oauth";
            /** @description Whether it is a workspace-admin key. */
            admin: boolean;
            /** @description Whether the key reads and changes nothing. */
            read_only: boolean;
            environment_id: string | null;
            /** @description Of a login, its client. Null for a key. */
            client_id: string | null;
            /** @description Null for a workspace key. */
            reach: ("work" | "sessions") | null;
            /** @description Enough of the key to recognise it. */
            preview: string;
            /** @description The person or the key that made it; null for an operator. */
            created_by: string | null;
            /** @description When the key was last used: the first use within seconds, later uses within ten minutes. Null for a key that never was. */
            last_used_at: components["schemas"]["Timestamp"] | null;
            /** @description When the key stops working, or null. */
            expires_at: components["schemas"]["Timestamp"] | null;
            /** @description When the key was revoked, or null. */
            revoked_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description The key itself. No other answer contains it. */
            key: string;
        };
        /** @description The grader has asked the model. What was said is not kept. */
        AuxModelCallEvent: {
            id: string;
            /** @constant */
            type: "aux.model_call";
            /** @constant */
            purpose: "outcome_evaluation";
            /** @description The id of the event with which the request began. */
            outcome_evaluation_start_id: string;
            /** @description Whether the request has failed. */
            is_error: boolean;
            model_usage: components["schemas"]["SpanModelUsage"];
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description Keys of Amazon. */
        AwsKeys: {
            /** @constant */
            type: "aws_keys";
            /** @description The id of the key. */
            access_key_id: string;
            /** @description No answer contains it. */
            secret_access_key: string;
            /** @description Of keys that end. No answer contains it. */
            session_token?: string;
            /** @description A role that is assumed with these credentials. */
            role_arn?: string & (unknown & unknown);
            /** @description The external id that the trust of the role asks for. */
            external_id?: string;
        };
        /** @description An application of Microsoft Entra. */
        AzureClientSecret: {
            /** @constant */
            type: "client_secret";
            /** @description The directory (tenant) of Microsoft Entra. */
            tenant_id: string & (unknown & unknown);
            /** @description The application (client). */
            client_id: string & (unknown & unknown);
            /** @description No answer contains it. */
            client_secret: string;
            /**
             * @description Default: `login.microsoftonline.com`.
             * @enum {string}
             */
            authority?: "login.microsoftonline.com" | "login.microsoftonline.us" | "login.partner.microsoftonline.cn";
        };
        /** @description The bytes, as base64. */
        Base64Source: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "base64";
            /** @description The type of the bytes, such as `image/png`. */
            media_type: string;
            data: string;
        };
        /** @description The bytes, as base64. */
        Base64SourceParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "base64";
            /** @description The type of the bytes, such as `image/png`. */
            media_type: string;
            data: string;
        };
        /** @description The newest commit of a branch. */
        BranchCheckout: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "branch";
            name: string;
        };
        /** @description A token for a command line that the service knows. */
        CapCLICreateParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "cap_cli";
            /** @description The program: `gh`, `glab`, `hf`, `npm` or `vercel`; it does not change. */
            cli_id: string;
            /** @description The token, which no answer contains. */
            token: string | components["schemas"]["SecretReference"];
        };
        /** @description A new token. */
        CapCLIUpdateParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "cap_cli";
            /** @description The new token; it stays when absent. */
            token?: (string | components["schemas"]["SecretReference"]) | null;
        };
        /** @description A turn, and whether its changes can be shown. */
        ChangedTurn: {
            /** @description The last event of the turn before; 0 for the first turn. */
            from: number;
            /** @description The last event of the turn. */
            to: number;
            /**
             * @description `known`: ask for the changes with this `from` and `to`. `unchanged`: no call of the turn had a result. `unknown`: the folder before it or after it is not kept.
             * @enum {string}
             */
            state: "known" | "unchanged" | "unknown";
            /** @description Why the changes are unknown. */
            reason: string | null;
        };
        /** @description Sessions run in sandboxes of this service. */
        CloudConfig: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "cloud";
            /** @description Which hosts a sandbox reaches; every public host when absent. */
            networking?: (components["schemas"]["UnrestrictedNetwork"] | components["schemas"]["LimitedNetwork"]) | null;
            packages?: components["schemas"]["Packages"] | null;
        };
        /** @description A variable of some commands. */
        CommandSecretCreateParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "command_secret";
            /** @description The value of the variable. */
            token: string | components["schemas"]["SecretReference"];
            /** @description The variable that the command reads. */
            env_var: string;
            /**
             * @description Only commands that begin with one of these words.
             * @default []
             */
            command_prefixes: string[];
        };
        /** @description A new value, or other commands. */
        CommandSecretUpdateParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "command_secret";
            /** @description The new value; it stays when absent. */
            token?: (string | components["schemas"]["SecretReference"]) | null;
            /** @description Replaces all of them. */
            command_prefixes?: string[];
        };
        /** @description One commit. */
        CommitCheckout: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "commit";
            /** @description The whole id of the commit: 40 hexadecimal digits. */
            sha: string;
        };
        /** @description A credential, without its secret. */
        Credential: {
            id: string;
            /** @constant */
            type: "vault_credential";
            vault_id: string;
            /** @description What people call the credential, or null. */
            display_name: string | null;
            auth: components["schemas"]["CredentialAuth"];
            metadata: {
                [key: string]: string;
            };
            /** @description When it was archived, or null. */
            archived_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
        };
        /** @description What a credential is for, without its secret. */
        CredentialAuth: components["schemas"]["CredentialAuthStaticBearer"] | components["schemas"]["CredentialAuthMcpOauth"] | components["schemas"]["CredentialAuthCapCli"] | components["schemas"]["CredentialAuthCommandSecret"] | components["schemas"]["CredentialAuthEnvironmentVariable"] | components["schemas"]["CredentialAuthAgentIdentity"];
        /** @description One change of a credential, a vault or the key of a model card. */
        CredentialChange: {
            id: string;
            /** @constant */
            type: "credential_change";
            /** @description Null for a model card. */
            vault_id: string | null;
            credential_id: string | null;
            /** @description The id of the model card, or null. */
            model_card_id: string | null;
            /** @description What happened, such as `credential.refreshed`. */
            change: string;
            /** @description The key that asked for the change. */
            api_key_id: string | null;
            /** @description The session whose call brought it about. */
            session_id: string | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
        };
        /**
         * @example {
         *       "display_name": "Issue tracker",
         *       "auth": {
         *         "type": "static_bearer",
         *         "token": "example-token",
         *         "mcp_server_url": "https://mcp.example.com/mcp"
         *       }
         *     }
         */
        CredentialCreateParams: {
            /** @description What the credential is for, with its secret. */
            auth: components["schemas"]["StaticBearerCreateParams"] | components["schemas"]["MCPOAuthCreateParams"] | components["schemas"]["CapCLICreateParams"] | components["schemas"]["CommandSecretCreateParams"] | components["schemas"]["EnvironmentVariableCreateParams"] | components["schemas"]["AgentIdentityCreateParams"];
            /** @description What people call the credential. */
            display_name?: string | null;
            metadata?: components["schemas"]["Metadata"] | null;
        };
        CredentialInVaultParams: {
            /** @description What the credential is for, with its secret. */
            auth: components["schemas"]["StaticBearerCreateParams"] | components["schemas"]["MCPOAuthCreateParams"] | components["schemas"]["CapCLICreateParams"] | components["schemas"]["CommandSecretCreateParams"] | components["schemas"]["EnvironmentVariableCreateParams"] | components["schemas"]["AgentIdentityCreateParams"];
            /** @description What people call the credential. */
            display_name?: string | null;
            metadata?: components["schemas"]["Metadata"] | null;
            /** @description A credential that is there already is written anew. */
            id?: string;
        };
        /** @description To which hosts the secret is sent. */
        CredentialNetworking: components["schemas"]["CredentialNetworkingUnrestricted"] | components["schemas"]["CredentialNetworkingLimited"];
        /**
         * @example {
         *       "auth": {
         *         "type": "static_bearer",
         *         "token": "example-token-2"
         *       }
         *     }
         */
        CredentialUpdateParams: {
            /** @description Its `type` is that of the credential. */
            auth?: components["schemas"]["StaticBearerUpdateParams"] | components["schemas"]["MCPOAuthUpdateParams"] | components["schemas"]["CapCLIUpdateParams"] | components["schemas"]["CommandSecretUpdateParams"] | components["schemas"]["EnvironmentVariableUpdateParams"] | components["schemas"]["AgentIdentityUpdateParams"];
            /** @description What people call the credential. */
            display_name?: string | null;
            metadata?: components["schemas"]["MetadataPatch"] | null;
        };
        /** @description One call that carried a credential. */
        CredentialUse: {
            id: string;
            /** @constant */
            type: "credential_use";
            /** @description Null where an MCP server was tried. */
            session_id: string | null;
            /** @description Null for a server's inline token. */
            vault_id: string | null;
            credential_id: string | null;
            /** @description What has made the call: `http`, `rpc-mcp` or `rpc-outbound`. */
            caller: string;
            /** @description The name of the server, as the agent says it. */
            server: string;
            /** @description The hostname that was called. */
            host: string;
            /** @description The method of the request. */
            method: string;
            /** @description Null until the head of the answer came. */
            status: number | null;
            /** @description Whether an OAuth token was renewed for the call. */
            refreshed: boolean;
            /** @description Milliseconds until the head of the answer; null until it came. */
            ms: number | null;
            /** @description Who has made the session: a caller, or what acts without one, such as a deployment. Null when the audit does not go back so far. */
            actor: {
                /** @description `api_key`, `user`, `environment_key`, `worker` or `operator`; or what acts without a person: `deployment`, `eval_run`, `dream`, `publication` or `session`. */
                type: string;
                id: string | null;
                /** @description As it was at the time. */
                name: string | null;
            } | null;
            /** @description The person or key behind an actor that is none; null for others. */
            on_behalf_of: {
                /** @description `api_key`, `user`, `environment_key`, `worker` or `operator`; or what acts without a person: `deployment`, `eval_run`, `dream`, `publication` or `session`. */
                type: string;
                id: string | null;
                /** @description As it was at the time. */
                name: string | null;
            } | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
        };
        /** @description What came of trying an OAuth credential. */
        CredentialValidation: {
            /**
             * @description `unknown`: the server could not be asked.
             * @enum {string}
             */
            status: "valid" | "invalid" | "unknown";
            /** @description Whether the token can be renewed. */
            has_refresh_token: boolean;
            /** @description What the MCP server said to the token; null where it was not asked. */
            mcp_probe: {
                /** @description The MCP method that was tried. */
                method: string;
                /** @description What was answered; null without an answer. */
                http_response: {
                    /** @description The status of the answer. */
                    status_code: number;
                    /** @description The type of its body. */
                    content_type: string;
                    /** @description The beginning of its body, without secrets. */
                    body: string;
                    /** @description Whether the body was longer. */
                    body_truncated: boolean;
                } | null;
            } | null;
            /** @description What came of renewing the token; null where that was not tried. */
            refresh: {
                /**
                 * @description How the attempt to renew the token ended.
                 * @enum {string}
                 */
                status: "succeeded" | "failed" | "connect_error" | "no_refresh_token";
                /** @description What was answered; null without an answer. */
                http_response: {
                    /** @description The status of the answer. */
                    status_code: number;
                    /** @description The type of its body. */
                    content_type: string;
                    /** @description The beginning of its body, without secrets. */
                    body: string;
                    /** @description Whether the body was longer. */
                    body_truncated: boolean;
                } | null;
            } | null;
            /** @constant */
            type: "vault_credential_validation";
            credential_id: string;
            vault_id: string;
            /** @description When the credential was tried. */
            validated_at: components["schemas"]["Timestamp"];
        };
        /** @description Times on the clock of a zone. Without `clock_changes` a time that the clock skips is skipped; one that it shows twice runs twice. */
        CronScheduleParams: {
            /** @constant */
            type: "cron";
            /** @description Minute, hour, day of the month, month and day of the week, as POSIX has them; 0 and 7 are Sunday. */
            expression: string;
            /** @description The zone whose clock the expression is about. */
            timezone: string;
            /**
             * @description Extension. `run_once`: a time that the clock skips runs at the next that it shows, one that it shows twice runs at the first.
             * @constant
             */
            clock_changes?: "run_once";
        };
        /** @description A tool of your own. */
        CustomTool: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "custom";
            name: string;
            /** @description The model reads it to choose the tool. */
            description: string;
            /** @description JSON Schema of the input; its type is object. */
            input_schema: {
                /** @constant */
                type: "object";
            } & {
                [key: string]: unknown;
            };
            /** @description Who runs the tool; without it a client answers each call. */
            execution?: ({
                /** @constant */
                type: "http";
                /**
                 * Format: uri
                 * @description Where the request is sent: https, and no credentials in it.
                 */
                endpoint: string;
                /** @description The method of the request; POST when absent. */
                method?: string;
            } | {
                /** @constant */
                type: "sandbox";
                /** @description The command, run in the sandbox of the session. */
                command: string;
            }) | null;
        };
        /** @description An agent with everything that a session needs. */
        Deployment: {
            id: string;
            /** @constant */
            type: "deployment";
            name: string;
            description: string | null;
            /** @description The agent at the version that is pinned. */
            agent: {
                /** @constant */
                type: "agent";
                id: string;
                /** @description The version that is pinned. */
                version: number;
            };
            environment_id: string;
            /** @description As they were sent. */
            initial_events: (components["schemas"]["UserMessage"] | components["schemas"]["UserDefineOutcomeEventParams"] | components["schemas"]["SystemMessageEventParams"])[];
            /** @description As they were sent, without tokens. */
            resources: (components["schemas"]["FileResourceParams"] | components["schemas"]["GitHubRepositoryResourceParams"] | components["schemas"]["MemoryStoreResourceParams"])[];
            /** @description In the order of their precedence. */
            vault_ids: string[];
            metadata: {
                [key: string]: string;
            };
            /** @description When the deployment runs by itself. Null: by hand alone. */
            schedule: {
                /** @constant */
                type: "cron";
                /** @description Minute, hour, day of the month, month and day of the week. */
                expression: string;
                /** @description The zone whose clock the expression is about. */
                timezone: string;
                /**
                 * @description Extension. As it was sent, else absent.
                 * @constant
                 */
                clock_changes?: "run_once";
                /** @description When the last scheduled run started. */
                last_run_at: components["schemas"]["Timestamp"] | null;
                /** @description Up to five times, and none once the deployment is archived. A run starts a little later than its time, by the same part of the interval each time. */
                upcoming_runs_at: components["schemas"]["Timestamp"][];
            } | null;
            /**
             * @description A paused deployment runs by hand alone.
             * @enum {string}
             */
            status: "active" | "paused";
            /** @description Null unless the deployment is paused. `error`: its last run could not start. */
            paused_reason: ({
                /** @constant */
                type: "manual";
            } | {
                /** @constant */
                type: "error";
                /** @description The error of that run. */
                error: {
                    /** @enum {string} */
                    type: "environment_archived_error" | "agent_archived_error" | "environment_not_found_error" | "vault_not_found_error" | "file_not_found_error" | "session_resource_not_found_error" | "workspace_archived_error" | "organization_disabled_error" | "memory_store_archived_error" | "skill_not_found_error" | "vault_archived_error" | "unknown_error" | "self_hosted_resources_unsupported_error" | "mcp_egress_blocked_error";
                };
            }) | null;
            budget: components["schemas"]["SessionBudget"] | null;
            /** @description When it was archived, or null. */
            archived_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
        };
        /**
         * @example {
         *       "name": "Morning report",
         *       "agent": "agent_018f3c2a7b1d7000a1b2c3d4e5f60718",
         *       "environment_id": "env_018f3c2a7b1d7002a1b2c3d4e5f60718",
         *       "initial_events": [
         *         {
         *           "type": "user.message",
         *           "content": [
         *             {
         *               "type": "text",
         *               "text": "Write the report."
         *             }
         *           ]
         *         }
         *       ],
         *       "schedule": {
         *         "type": "cron",
         *         "expression": "0 9 * * 1-5",
         *         "timezone": "Europe/Berlin"
         *       }
         *     }
         */
        DeploymentCreateParams: {
            /** @description What people call the deployment. */
            name: string;
            /** @description The id of an agent, which pins its newest version, or an object with a version. */
            agent: string | components["schemas"]["AgentParams"];
            environment_id: string;
            /** @description Posted in this order to each session that the deployment creates. */
            initial_events: (components["schemas"]["UserMessageParams"] | components["schemas"]["UserDefineOutcomeEventParams"] | components["schemas"]["SystemMessageEventParams"])[];
            description?: string | null;
            metadata?: components["schemas"]["Metadata"] | null;
            /** @description What each session works on. */
            resources?: (components["schemas"]["FileResourceParams"] | components["schemas"]["GitHubRepositoryResourceParams"] | components["schemas"]["MemoryStoreResourceParams"])[] | null;
            /** @description Vaults of each session; the first that has a credential wins. */
            vault_ids?: string[] | null;
            /** @description Most that one session may cost. */
            budget?: components["schemas"]["SessionBudget"] | null;
            /** @description Runs by hand alone when absent or null. */
            schedule?: components["schemas"]["CronScheduleParams"] | null;
        };
        /** @description A document: PDF or plain text. */
        DocumentBlock: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "document";
            source: components["schemas"]["Base64Source"] | components["schemas"]["URLSource"] | components["schemas"]["FileSource"] | components["schemas"]["PlainTextDocumentSource"];
            title?: string | null;
            /** @description What the model should know about the document. */
            context?: string | null;
        };
        /** @description A document: PDF or plain text. */
        DocumentBlockParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "document";
            source: components["schemas"]["Base64SourceParams"] | components["schemas"]["URLSourceParams"] | components["schemas"]["FileSourceParams"] | components["schemas"]["PlainTextDocumentSourceParams"];
            title?: string | null;
            /** @description What the model should know about the document. */
            context?: string | null;
        };
        /** @description How much a model thinks, moved to a level that it supports. */
        Effort: {
            /** @enum {string} */
            type: "low" | "medium" | "high" | "xhigh" | "max";
        };
        /** @description Where the commands of a session run. */
        Environment: {
            id: string;
            /** @constant */
            type: "environment";
            name: string;
            description: string | null;
            /** @description Where sessions run, on which network and with which packages. */
            config: components["schemas"]["SelfHostedConfig"] | components["schemas"]["CloudConfig"];
            metadata: {
                [key: string]: string;
            };
            /**
             * @description As it was sent; `organization` when it was absent.
             * @enum {string}
             */
            scope: "organization" | "account";
            /** @description What the sandbox starts from. */
            base_image: string | null;
            /** @description Which hosts a sandbox reaches. */
            network: {
                /** @description Hosts that a limited sandbox reaches. */
                allowlist: string[];
                /** @description Hosts that are never reached. */
                denylist: string[];
            };
            /** @description The packages to install, by manager. */
            packages: {
                [key: string]: string[];
            };
            /** @description Whether a limited sandbox reaches the MCP servers of its agent. */
            allow_mcp_servers: boolean;
            /** @description Variables of every command. */
            env: {
                [key: string]: string;
            };
            /** @description When it was archived, or null. */
            archived_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "name": "python",
         *       "config": {
         *         "type": "cloud",
         *         "networking": {
         *           "type": "limited",
         *           "allowed_hosts": [
         *             "api.example.com"
         *           ],
         *           "allow_package_managers": true
         *         }
         *       }
         *     }
         */
        EnvironmentCreateParams: {
            /** @description Unique among the environments of the workspace that are not archived. */
            name: string;
            /** @description What the environment is for. */
            description?: string | null;
            /** @description A container image, or the name of one of the operator's root folders. */
            base_image?: string | null;
            /** @description The same as `config.packages`. */
            packages?: components["schemas"]["Packages"] | null;
            /** @description Which hosts a sandbox reaches. */
            network?: {
                /** @description The same as `allowed_hosts` of the config. */
                allowlist?: string[];
                /** @description Hosts that are never reached. */
                denylist?: string[];
            } | null;
            /** @description Variables of every command in the sandbox. */
            env?: {
                [key: string]: string;
            } | null;
            /** @description The same as `allow_mcp_servers` of the config. */
            allow_mcp_servers?: boolean | null;
            /** @description Where sessions run; its `type` cannot change. */
            config?: (components["schemas"]["SelfHostedConfig"] | components["schemas"]["CloudConfig"]) | null;
            metadata?: components["schemas"]["Metadata"] | null;
            /** @description Kept and returned. */
            scope?: ("organization" | "account") | null;
        };
        /**
         * @example {
         *       "description": "For scripts in Python",
         *       "metadata": {
         *         "team": "data"
         *       }
         *     }
         */
        EnvironmentUpdateParams: {
            /** @description Unique among the environments of the workspace that are not archived. */
            name?: string;
            /** @description What the environment is for. */
            description?: string | null;
            /** @description A container image, or the name of one of the operator's root folders. */
            base_image?: string | null;
            /** @description The same as `config.packages`. */
            packages?: components["schemas"]["Packages"] | null;
            /** @description Which hosts a sandbox reaches. */
            network?: {
                /** @description The same as `allowed_hosts` of the config. */
                allowlist?: string[];
                /** @description Hosts that are never reached. */
                denylist?: string[];
            } | null;
            /** @description Variables of every command in the sandbox. */
            env?: {
                [key: string]: string;
            } | null;
            /** @description The same as `allow_mcp_servers` of the config. */
            allow_mcp_servers?: boolean | null;
            /** @description Where sessions run; its `type` cannot change. */
            config?: (components["schemas"]["SelfHostedConfig"] | components["schemas"]["CloudConfig"]) | null;
            metadata?: components["schemas"]["MetadataPatch"] | null;
            /** @description Kept and returned. */
            scope?: ("organization" | "account") | null;
        };
        /** @description A variable whose value is a placeholder inside of the sandbox. */
        EnvironmentVariableCreateParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "environment_variable";
            /** @description The variable; the sandbox sees a placeholder in it. */
            secret_name: string;
            /** @description What takes the place of the placeholder outside of the sandbox. */
            secret_value: string | components["schemas"]["SecretReference"];
            networking: components["schemas"]["CredentialNetworking"];
            /**
             * @description Where in a request the placeholder is replaced.
             * @default {
             *       "header": true,
             *       "body": true
             *     }
             */
            injection_location: {
                /**
                 * @description Whether the placeholder is replaced in headers.
                 * @default false
                 */
                header: boolean;
                /**
                 * @description Whether the placeholder is replaced in bodies.
                 * @default false
                 */
                body: boolean;
            };
        };
        /** @description A new value, or other hosts. */
        EnvironmentVariableUpdateParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "environment_variable";
            /** @description The new value; it stays when absent. */
            secret_value?: (string | components["schemas"]["SecretReference"]) | null;
            /** @description Replaces the hosts as a whole. */
            networking?: components["schemas"]["CredentialNetworking"] | null;
            /** @description Merged into what is there; one place must be left. */
            injection_location?: {
                /** @description Whether the placeholder is replaced in headers. */
                header?: boolean;
                /** @description Whether the placeholder is replaced in bodies. */
                body?: boolean;
            };
        };
        /** @description The body of every error. */
        ErrorResponse: {
            /** @constant */
            type: "error";
            /** @description What was wrong. */
            error: {
                /**
                 * @description The kind of error. Words that end in `_error` are for requests with the header `anthropic-version`.
                 * @enum {string}
                 */
                type: "invalid_request" | "not_found" | "unauthorized" | "forbidden" | "rate_limited" | "internal_error" | "invalid_request_error" | "authentication_error" | "permission_error" | "not_found_error" | "conflict_error" | "rate_limit_error" | "api_error" | "overloaded_error" | "memory_path_conflict_error" | "memory_precondition_failed_error";
                /** @description A sentence for a person: which field is wrong, and why. */
                message: string;
                /** @description More about the error; absent where there is no more. */
                details?: {
                    /** @description A word for programs, where there is one. */
                    error_code?: string;
                } & {
                    [key: string]: unknown;
                };
                /** @description Of a `memory_path_conflict_error`: the id of the memory in the way. */
                conflicting_memory_id?: string;
                /** @description Of a `memory_path_conflict_error`: the path of the memory in the way. */
                conflicting_path?: string;
            };
            /** @description Names the request in the log of the server. */
            request_id: string | null;
        };
        /** @description A long part of an event, cut. */
        EventCut: {
            /** @description Where in the event, as a JSON pointer: `/content/0/text`. */
            at: string;
            /** @description The whole text, as JSON writes it; of base64 the bytes that it stands for. */
            bytes?: number;
            /** @description How the text ends. */
            tail?: string;
            /** @description Of a list or an object: its last items, left out. */
            left_out?: number;
        };
        /** @description Where in an event a text was found. */
        EventExcerpt: {
            /** @description Where in the event, as a JSON pointer: `/content/0/text`. */
            at: string;
            /** @description Where in that text, in UTF-16 code units. */
            index: number;
            /** @description What stands before it, shortened. */
            before: string;
            /** @description What was found, as it is written there; empty without `q`. */
            text: string;
            /** @description What stands behind it, shortened. */
            after: string;
        };
        /**
         * @example {
         *       "events": [
         *         {
         *           "type": "user.message",
         *           "content": [
         *             {
         *               "type": "text",
         *               "text": "Go on."
         *             }
         *           ]
         *         }
         *       ]
         *     }
         */
        EventSendParams: {
            /** @description Applied in order, all of them or none. */
            events: (components["schemas"]["UserMessageParams"] | components["schemas"]["UserInterruptEventParams"] | components["schemas"]["UserToolConfirmationEventParams"] | components["schemas"]["UserCustomToolResultEventParams"] | components["schemas"]["UserToolResultEventParams"] | components["schemas"]["SystemMessageEventParams"] | components["schemas"]["UserDefineOutcomeEventParams"])[];
        };
        /** @description The step that an event ends: a request to the model, or the call of a tool. */
        EventStep: {
            /** @enum {string} */
            type: "model_request" | "compaction" | "outcome_evaluation" | "tool_call";
            /** @description The id of the event with which the step began. */
            begun_by: string;
            /** @description The `seq` of that event. */
            begun_seq: number;
            /** @description The tool that was called. */
            tool?: string;
            /** @description When it began; for a call that was asked about, to run. */
            started_at: components["schemas"]["Timestamp"];
            /** @description Milliseconds from its beginning to its end. */
            duration_ms: number;
            /** @description How long the call waited for a person before. */
            waited_ms?: number;
            /** @description Whether it has failed. */
            is_error: boolean;
            /** @description Of a command of `bash` that has ended by itself. */
            exit_code?: number;
            /** @description The model that was asked. */
            model?: string;
            /** @description What the request cost. Null where its model has no price. */
            list_cost?: {
                /** @description US cents as text, with up to four decimals. */
                amount: string;
                /** @constant */
                currency: "USD";
            } | null;
        };
        /** @description A stored file, without its bytes. */
        FileMetadata: {
            id: string;
            /** @constant */
            type: "file";
            filename: string;
            /** @description The type of the content, such as `text/plain`. */
            mime_type: string;
            /** @description The size of the content in bytes. */
            size_bytes: number;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description Whether its content may be downloaded. */
            downloadable: boolean;
            /** @description When it is deleted by itself, or null. */
            expires_at: components["schemas"]["Timestamp"] | null;
            /** @description The session that it belongs to, or null for a file of the workspace. */
            scope: {
                /** @constant */
                type: "session";
                id: string;
            } | null;
        };
        /** @description A file in the session. */
        FileResource: {
            id: string;
            /** @description As it was sent. */
            mount_path: string;
            /** @description Where it lies in the sandbox. */
            resolved_path: string;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "file";
            file_id: string;
        };
        /**
         * @description A file of the workspace, copied into the session.
         * @example {
         *       "type": "file",
         *       "file_id": "file_018f3c2a7b1d7003a1b2c3d4e5f60718",
         *       "mount_path": "/workspace/data.csv"
         *     }
         */
        FileResourceParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "file";
            file_id: string;
            /** @description Where it lies in the sandbox; the service chooses a place when absent. */
            mount_path?: string | null;
        };
        /** @description A file of the workspace. */
        FileSource: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "file";
            file_id: string;
        };
        /** @description A file of the workspace. */
        FileSourceParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "file";
            file_id: string;
        };
        /**
         * @example {
         *       "file": "some text"
         *     }
         */
        FileUploadParams: {
            /** @description Put the file into this session. */
            session_id?: string;
            /** @description Seconds until it is deleted by itself. */
            expires_in_seconds?: number;
            /**
             * Format: binary
             * @description The bytes, with a filename.
             */
            file: string;
        };
        /** @description A page of the entries of a folder of a session. */
        Folder: {
            data: components["schemas"]["FolderEntry"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
            /** @description The folder: `/workspace`, or below it. */
            path: string;
            /**
             * @description `live`: the folder on the machine of this server. `checkpoint`: the newest checkpoint of a folder that lies elsewhere. `none`: there is nothing to read.
             * @enum {string}
             */
            source: "live" | "checkpoint" | "none";
            /** @description The time as of which the folder is shown; null for none. */
            at: components["schemas"]["Timestamp"] | null;
            /** @description Why there is nothing to read. */
            reason: string | null;
            /** @description False: the folder has more entries than are looked at, and some are not listed. */
            is_complete: boolean;
        };
        /** @description A file that differs between two times. */
        FolderChange: {
            /** @description Below `/workspace`. */
            path: string;
            /** @description Of a renamed file, else null. */
            previous_path: string | null;
            /**
             * @description `renamed`: the same content lay under another path before.
             * @enum {string}
             */
            change: "added" | "changed" | "removed" | "renamed";
            /**
             * @description What it is afterwards; what it was, where it is removed.
             * @enum {string}
             */
            kind: "file" | "link" | "other";
            /** @description Bytes afterwards; null for what is removed, or no file. */
            size: number | null;
            /** @description Bytes before; null for what is added, or was no file. */
            previous_size: number | null;
            /** @description Null where the lines were not compared. */
            lines_added: number | null;
            /** @description Null where the lines were not compared. */
            lines_removed: number | null;
            /** @description A unified diff of a text, or null. */
            diff: string | null;
            /** @description Why there is no diff. `too_long`: beyond 256 KiB, or too different. `too_many`: other files have used up what one answer compares; ask for this `path` alone. */
            diff_reason: ("binary" | "too_long" | "too_many" | "not_a_file" | "same_content") | null;
        };
        /** @description What differs between two times of a working folder. */
        FolderChanges: {
            /** @constant */
            type: "folder_changes";
            /**
             * @description `unknown`: the folder of one of the two times is not kept.
             * @enum {string}
             */
            state: "known" | "unknown";
            /** @description Why the changes are unknown. */
            reason: string | null;
            from: components["schemas"]["FolderPoint"] | null;
            to: components["schemas"]["FolderPoint"] | null;
            /** @description By path, 1,000 at most. */
            files: components["schemas"]["FolderChange"][];
            /** @description Of all files, those too that are not listed. */
            totals: {
                /** @description Files that were added. */
                added: number;
                /** @description Files with other content. */
                changed: number;
                /** @description Files that were removed. */
                removed: number;
                /** @description Files that have another path. */
                renamed: number;
                /** @description Lines that were added, in the texts that were compared. */
                lines_added: number;
                /** @description Lines that were removed, in the texts that were compared. */
                lines_removed: number;
                /** @description False: some texts were not compared, and their lines are not counted. */
                lines_are_complete: boolean;
            };
            /** @description What is not compared, or not listed. */
            left_out: {
                /** @description What lies there or below it. */
                path: string;
                /** @description Files that differ there; 0 where that is unknown. */
                files: number;
                /** @description Why it is left out, as a sentence. */
                reason: string;
            }[];
        };
        /** @description A file, a folder or a link in a working folder. */
        FolderEntry: {
            /** @description Bytes that are no UTF-8 are shown as U+FFFD. */
            name: string;
            /** @description False: the name is no UTF-8, so that no path leads there. */
            is_exact: boolean;
            /**
             * @description `other`: a pipe, a socket or a device, which is never opened.
             * @enum {string}
             */
            kind: "file" | "folder" | "link" | "other";
            /** @description Bytes of a file, null for anything else. */
            size: number | null;
            /** @description Null for a time that no calendar has. */
            modified_at: components["schemas"]["Timestamp"] | null;
            /** @description The text of a link, which is never followed. */
            target: string | null;
        };
        /** @description A state of a working folder that is compared. */
        FolderPoint: {
            /**
             * @description `empty`: before any command. `live`: the folder on the machine of this server.
             * @enum {string}
             */
            source: "empty" | "checkpoint" | "live";
            /** @description The newest event before a checkpoint, else null. */
            seq: number | null;
            /** @description When the folder was so; null for the empty one. */
            at: components["schemas"]["Timestamp"] | null;
        };
        /** @description An event that a search has found. */
        FoundEvent: {
            id: string;
            type: string;
            /** @description Its place in the log. */
            seq: number;
            /** @description Null for an event of the primary thread. */
            session_thread_id: string | null;
            /** @description Of a call or a result: the tool. */
            tool: string | null;
            /** @description Whether it tells of something that has failed. */
            is_error: boolean;
            created_at: components["schemas"]["Timestamp"];
            /** @description The first place where `q` was found; without `q` the beginning or the end of it. */
            excerpt: components["schemas"]["EventExcerpt"] | null;
        };
        /** @description A repository in the session. */
        GitHubRepositoryResource: {
            id: string;
            /** @description As it was sent. */
            mount_path: string;
            /** @description Where it lies in the sandbox. */
            resolved_path: string;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "github_repository";
            /** @description The https address that it is cloned from. */
            url: string;
            /** @description The branch or commit; null for the default branch. */
            checkout: (components["schemas"]["BranchCheckout"] | components["schemas"]["CommitCheckout"]) | null;
        };
        /** @description A repository that is cloned into the session. */
        GitHubRepositoryResourceParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "github_repository";
            /** @description The https address to clone from. */
            url: string;
            /** @description No answer contains it. */
            authorization_token?: string | null;
            /** @description The default branch when absent. */
            checkout?: (components["schemas"]["BranchCheckout"] | components["schemas"]["CommitCheckout"]) | null;
            /** @description Where it lies in the sandbox; the service chooses a place when absent. */
            mount_path?: string | null;
        };
        /** @description A key of a service account, as Google gives it. Further fields are ignored. */
        GoogleServiceAccountKey: {
            /** @constant */
            type: "service_account";
            /** @description The address of the service account. */
            client_email: string;
            /**
             * Format: starts_with
             * @description No answer contains it.
             */
            private_key: string;
            /** @description The id of the key. */
            private_key_id?: string;
        };
        /** @description What neither retention nor a caller removes while it is in force. */
        Hold: {
            id: string;
            /** @constant */
            type: "hold";
            scope: {
                /** @constant */
                type: "workspace";
            } | {
                /** @constant */
                type: "session";
                session_id: string;
            } | {
                /** @constant */
                type: "person";
                /** @description The id of the person, as members have it. */
                person_id: string;
            };
            /** @description Why it was made. */
            reason: string;
            /** @description Who has made it. */
            created_by: {
                /** @description `api_key`, `user`, `deployment`, `eval_run` and others, as the audit has them. */
                type: string;
                id: string | null;
                /** @description The name at that time. */
                name: string | null;
            } | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description Who has released it, or null. */
            released_by: {
                /** @description `api_key`, `user`, `deployment`, `eval_run` and others, as the audit has them. */
                type: string;
                id: string | null;
                /** @description The name at that time. */
                name: string | null;
            } | null;
            /** @description When it was released. Null: it is in force. */
            released_at: components["schemas"]["Timestamp"] | null;
        };
        /**
         * @example {
         *       "scope": {
         *         "type": "session",
         *         "session_id": "sesn_018f3c2a7b1d7004a1b2c3d4e5f60718"
         *       },
         *       "reason": "case 4711"
         *     }
         */
        HoldCreateParams: {
            scope: {
                /** @constant */
                type: "workspace";
            } | {
                /** @constant */
                type: "session";
                session_id: string;
            } | {
                /** @constant */
                type: "person";
                /** @description The id of the person, as members have it. */
                person_id: string;
            };
            /** @description Why it is made, such as the number of the case. */
            reason: string;
        };
        /** @description An image: PNG, JPEG, GIF or WebP. */
        ImageBlock: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "image";
            source: components["schemas"]["Base64Source"] | components["schemas"]["URLSource"] | components["schemas"]["FileSource"];
        };
        /** @description An image: PNG, JPEG, GIF or WebP. */
        ImageBlockParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "image";
            source: components["schemas"]["Base64SourceParams"] | components["schemas"]["URLSourceParams"] | components["schemas"]["FileSourceParams"];
        };
        /** @description An invitation, without its link. */
        Invitation: {
            id: string;
            /** @constant */
            type: "invitation";
            email: string | null;
            /**
             * @description A viewer reads. A reviewer also starts sessions of stored agents, writes to them and answers their approvals. A member does what a workspace key does. An admin does what a workspace-admin key does. An owner also archives and deletes the workspace, and names owners.
             * @enum {string}
             */
            role: "viewer" | "reviewer" | "member" | "admin" | "owner";
            /** @description The person or key that has invited; null for an operator. */
            invited_by: string | null;
            /** @description The person who has accepted, or null. */
            accepted_by: string | null;
            /** @description When the invitation was accepted, or null. */
            accepted_at: components["schemas"]["Timestamp"] | null;
            /** @description When the link ends. */
            expires_at: components["schemas"]["Timestamp"];
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
        };
        /**
         * @example {
         *       "email": "ada@example.com",
         *       "role": "member"
         *     }
         */
        InvitationCreateParams: {
            /**
             * @description A viewer reads. A reviewer also starts sessions of stored agents, writes to them and answers their approvals. A member does what a workspace key does. An admin does what a workspace-admin key does. An owner also archives and deletes the workspace, and names owners.
             * @enum {string}
             */
            role: "viewer" | "reviewer" | "member" | "admin" | "owner";
            /** @description Whom to invite; left out, whoever has the link names an address. */
            email?: string | null;
        };
        /** @description An invitation with its link. */
        InvitationWithLink: {
            id: string;
            /** @constant */
            type: "invitation";
            email: string | null;
            /**
             * @description A viewer reads. A reviewer also starts sessions of stored agents, writes to them and answers their approvals. A member does what a workspace key does. An admin does what a workspace-admin key does. An owner also archives and deletes the workspace, and names owners.
             * @enum {string}
             */
            role: "viewer" | "reviewer" | "member" | "admin" | "owner";
            /** @description The person or key that has invited; null for an operator. */
            invited_by: string | null;
            /** @description The person who has accepted, or null. */
            accepted_by: string | null;
            /** @description When the invitation was accepted, or null. */
            accepted_at: components["schemas"]["Timestamp"] | null;
            /** @description When the link ends. */
            expires_at: components["schemas"]["Timestamp"];
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description The link. It opens once; no other answer contains it. */
            url: string;
            /** @description Whether the link was sent to the address too. */
            mailed: boolean;
        };
        JsonValue: unknown;
        /** @description Only the named hosts are reached. */
        LimitedNetwork: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "limited";
            /** @description Hosts that a sandbox reaches: `example.com`, or `*.example.com`. */
            allowed_hosts?: string[] | null;
            /** @description Whether MCP servers are reached. */
            allow_mcp_servers?: boolean | null;
            /** @description Whether the registries of package managers are reached. */
            allow_package_managers?: boolean | null;
        };
        /** @description Pieces of what happens, on streams with `include=chunks`; kept nowhere. */
        LiveSessionEvent: components["schemas"]["AgentMessageStreamStartEvent"] | components["schemas"]["AgentMessageChunkEvent"] | components["schemas"]["AgentMessageStreamEndEvent"] | components["schemas"]["AgentThinkingStreamStartEvent"] | components["schemas"]["AgentThinkingChunkEvent"] | components["schemas"]["AgentThinkingStreamEndEvent"] | components["schemas"]["AgentToolUseInputStreamStartEvent"] | components["schemas"]["AgentToolUseInputChunkEvent"] | components["schemas"]["AgentToolUseInputStreamEndEvent"] | components["schemas"]["AgentToolUseOutputChunkEvent"] | components["schemas"]["SystemUserMessagePendingEvent"] | components["schemas"]["SystemUserMessagePromotedEvent"] | components["schemas"]["SessionWaitingChangedEvent"] | components["schemas"]["SpanModelFirstTokenEvent"];
        /** @description When a person has last looked at the workspace. */
        Looked: {
            /** @constant */
            type: "looked";
            /** @description Now. */
            last_looked_at: components["schemas"]["Timestamp"];
            /** @description When the person had looked before. Null: never. */
            before: components["schemas"]["Timestamp"] | null;
        };
        /** @description OAuth tokens for an MCP server. */
        MCPOAuthCreateParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "mcp_oauth";
            /** @description The token, which no answer contains. */
            access_token: string;
            /**
             * Format: uri
             * @description The address of the MCP server; it does not change.
             */
            mcp_server_url: string;
            /** @description When the access token ends. */
            expires_at?: components["schemas"]["Timestamp"] | null;
            /** @description When absent, the token is not renewed. */
            refresh?: components["schemas"]["MCPOAuthRefreshParams"] | null;
            /** @description The same as in `refresh`. */
            refresh_token?: string | null;
            /** @description The same as in `refresh`. */
            token_endpoint?: string | null;
        };
        /** @description How the access token is renewed. */
        MCPOAuthRefreshParams: {
            /** @description The id of the client at the authorization server. */
            client_id?: string | null;
            /** @description The token by which a new access token is asked for. */
            refresh_token: string;
            /**
             * Format: uri
             * @description Where a new access token is asked for.
             */
            token_endpoint: string;
            /**
             * @description How the client authenticates itself; not at all when absent.
             * @default {
             *       "type": "none"
             *     }
             */
            token_endpoint_auth: components["schemas"]["TokenEndpointAuthParam"];
            /** @description The resource that the token is for, as RFC 8707 has it. */
            resource?: string | null;
            /** @description The scopes that are asked for, with spaces between them. */
            scope?: string | null;
        };
        /** @description New tokens. */
        MCPOAuthUpdateParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "mcp_oauth";
            /** @description The new access token; it stays when absent. */
            access_token?: string | null;
            /** @description When the new access token ends. */
            expires_at?: components["schemas"]["Timestamp"] | null;
            /** @description What changes of how the token is renewed. */
            refresh?: {
                /** @description The new refresh token; it stays when absent. */
                refresh_token?: string | null;
                /** @description The scopes that are asked for from now on. */
                scope?: string | null;
                /** @description How the client authenticates itself from now on. */
                token_endpoint_auth?: {
                    /** @enum {string} */
                    type: "none" | "client_secret_basic" | "client_secret_post";
                    /** @description The new secret of the client. */
                    client_secret?: (string | components["schemas"]["SecretReference"]) | null;
                };
            } | null;
            /** @description The same as in `refresh`. */
            refresh_token?: string | null;
        };
        /** @description What came of trying an MCP server. */
        MCPProbe: {
            /** @description Names it in the audit. */
            id: string;
            /** @constant */
            type: "mcp_probe";
            /** @description Whether it was reached and has listed its tools. */
            ok: boolean;
            /** @description The address that was asked. */
            url: string;
            /** @description The credential that belongs to the address. Null: none was sent. */
            credential: {
                vault_id: string;
                credential_id: string;
            } | null;
            /** @description Its tools, 500 at most. */
            tools: {
                /** @description As the server calls it. */
                name: string;
                /** @description What people call it, if the server says so. */
                title: string | null;
                /** @description What it does, at most 400 characters. */
                description: string | null;
            }[];
            /** @description What of its tools cannot be used, in words. */
            left_out: string | null;
            /** @description Why it cannot be used. Null when it can. */
            error: {
                /** @enum {string} */
                type: "mcp_connection_failed_error" | "mcp_authentication_failed_error";
                /** @description What failed. */
                message: string;
                /** @description What to do about it. */
                advice: string;
            } | null;
            /** @description Milliseconds until it had answered or was given up. */
            ms: number;
        };
        /**
         * @description An MCP server to try, and the vaults to try it with.
         * @example {
         *       "name": "tracker",
         *       "url": "https://mcp.example.com/mcp"
         *     }
         */
        MCPProbeParams: {
            /** @description What errors call it; its host when absent. */
            name?: string | null;
            /**
             * Format: uri
             * @description The address of the server, as an agent would name it.
             */
            url: string;
            /** @description Vaults whose credentials it may get, as those of a session. */
            vault_ids?: string[] | null;
        };
        /** @description An MCP server whose tools the agent has. */
        MCPServer: {
            /** @description Unique in the agent. A tool of the server is called `mcp__<name>__<tool>`. */
            name: string;
            /**
             * @description `url`: reached over HTTP. `stdio`: a program that the worker of a session starts.
             * @enum {string}
             */
            type: "url" | "stdio";
            /** @description Required for type `url`. */
            url?: string | null;
            /** @description A bearer token for this server. No answer contains it. */
            authorization_token?: string | null;
            /** @description Required for type `stdio`. */
            stdio?: {
                /** @description The program to start. */
                command: string;
                /** @description Its arguments. */
                args?: string[];
                /** @description Variables of the program. */
                env?: {
                    [key: string]: string;
                };
                /** @description Where the program listens, on 127.0.0.1. */
                port: number;
                /**
                 * @description Milliseconds until the program listens at the latest.
                 * @default 60000
                 */
                ready_timeout_ms: number;
            } | null;
        };
        /** @description An MCP server, without its token. */
        MCPServerShown: {
            name: string;
            /** @enum {string} */
            type: "url" | "stdio";
            /** @description Where a server of type `url` is reached. */
            url?: string | null;
            /** @description The program, for type `stdio`. */
            stdio?: {
                [key: string]: unknown;
            } | null;
        } & {
            [key: string]: unknown;
        };
        /** @description What one tool of the server may do. */
        MCPToolConfig: {
            name: string;
            /** @description Whether the agent has the tool. */
            enabled?: boolean | null;
            /** @description Whether a call runs at once or asks. When absent: that of `default_config`. */
            permission_policy?: components["schemas"]["PermissionPolicy"] | null;
        };
        /** @description The tools of an MCP server. */
        MCPToolset: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "mcp_toolset";
            /** @description One of the names in `mcp_servers`. */
            mcp_server_name: string;
            default_config?: components["schemas"]["ToolsetDefaultConfig"] | null;
            /** @description Single tools, each name once. */
            configs?: components["schemas"]["MCPToolConfig"][] | null;
        };
        /** @description What the server is at the cloud. Only in workspaces that its operator lists. A role is assumed with the id of the workspace as external id. */
        MachineIdentity: {
            /** @constant */
            type: "machine";
            /** @description A role that is assumed with these credentials. */
            role_arn?: string & (unknown & unknown);
            /** @description A managed identity that is not the one of the machine. */
            client_id?: string & (unknown & unknown);
        };
        /** @description Who calls, and in which workspaces. */
        Me: {
            /** @description Null for an API key and for a token of an identity provider. */
            user: {
                id: string;
                /** @constant */
                type: "user";
                email: string;
                name: string;
            } | null;
            /** @description The workspaces that the caller belongs to. */
            workspaces: {
                id: string;
                name: string;
                /**
                 * @description A viewer reads. A reviewer also starts sessions of stored agents, writes to them and answers their approvals. A member does what a workspace key does. An admin does what a workspace-admin key does. An owner also archives and deletes the workspace, and names owners.
                 * @enum {string}
                 */
                role: "viewer" | "reviewer" | "member" | "admin" | "owner";
                archived_at: components["schemas"]["Timestamp"] | null;
            }[];
            /** @description The workspace of this request; null where the caller has to choose one. */
            active_workspace_id: string | null;
        };
        /** @description A person who belongs to the workspace. */
        Member: {
            /** @description Of the person. */
            id: string;
            /** @constant */
            type: "member";
            email: string;
            name: string;
            /**
             * @description A viewer reads. A reviewer also starts sessions of stored agents, writes to them and answers their approvals. A member does what a workspace key does. An admin does what a workspace-admin key does. An owner also archives and deletes the workspace, and names owners.
             * @enum {string}
             */
            role: "viewer" | "reviewer" | "member" | "admin" | "owner";
            /** @description The company's identity provider whose groups give the membership, or null where people do. */
            identity_provider: string | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
        };
        /** @description The people of a workspace. */
        MemberList: {
            data: components["schemas"]["Member"][];
        };
        /** @description A person who belongs to the workspace no more. */
        MemberRemoved: {
            /** @constant */
            type: "member_deleted";
            /** @description Of the person. */
            id: string;
            /** @description Keys that the person has made, which were valid until now. */
            keys: {
                id: string;
                workspace_id: string;
                name: string;
                /**
                 * @description `environment` for a key of workers.
                 * @enum {string}
                 */
                kind: "workspace" | "environment";
                /** @description Whether it is a workspace-admin key. */
                admin: boolean;
                /** @description Enough of the key to recognise it. */
                preview: string;
                /** @description When the key was last used, or null. */
                last_used_at: components["schemas"]["Timestamp"] | null;
            }[];
            /** @description Whether these keys were revoked. */
            revoked: boolean;
        };
        /**
         * @example {
         *       "role": "admin"
         *     }
         */
        MemberUpdateParams: {
            /**
             * @description A viewer reads. A reviewer also starts sessions of stored agents, writes to them and answers their approvals. A member does what a workspace key does. An admin does what a workspace-admin key does. An owner also archives and deletes the workspace, and names owners.
             * @enum {string}
             */
            role: "viewer" | "reviewer" | "member" | "admin" | "owner";
        };
        /** @description A member with the new role. */
        MemberUpdated: {
            /** @description Of the person. */
            id: string;
            /** @constant */
            type: "member";
            email: string;
            name: string;
            /**
             * @description A viewer reads. A reviewer also starts sessions of stored agents, writes to them and answers their approvals. A member does what a workspace key does. An admin does what a workspace-admin key does. An owner also archives and deletes the workspace, and names owners.
             * @enum {string}
             */
            role: "viewer" | "reviewer" | "member" | "admin" | "owner";
            /** @description The company's identity provider whose groups give the membership, or null where people do. */
            identity_provider: string | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description Where the role became smaller: keys that the person has made, which were valid until now. They open the workspace as before, unless they were revoked. */
            keys: {
                id: string;
                workspace_id: string;
                name: string;
                /**
                 * @description `environment` for a key of workers.
                 * @enum {string}
                 */
                kind: "workspace" | "environment";
                /** @description Whether it is a workspace-admin key. */
                admin: boolean;
                /** @description Enough of the key to recognise it. */
                preview: string;
                /** @description When the key was last used, or null. */
                last_used_at: components["schemas"]["Timestamp"] | null;
            }[];
            /** @description Whether these keys were revoked. */
            revoked: boolean;
        };
        /** @description One text of a memory store. */
        Memory: {
            id: string;
            /** @constant */
            type: "memory";
            memory_store_id: string;
            /** @description The version that is the present content. */
            memory_version_id: string;
            /** @description The path of the memory: begins with `/`. */
            path: string;
            /** @description Null in the basic view. */
            content: string | null;
            /** @description The hash of the text. */
            content_sha256: string;
            /** @description The size of the text in bytes. */
            content_size_bytes: number;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
        };
        /**
         * @example {
         *       "path": "/style/naming.md",
         *       "content": "A function is a verb with its object."
         *     }
         */
        MemoryCreateParams: {
            /** @description Begins with `/`; 1 to 20 segments, at most 1,024 bytes. */
            path: string;
            /** @description The text, at most 102,400 bytes; null is empty. */
            content: string | null;
        };
        /** @description A path that memories lie below. */
        MemoryPrefix: {
            /** @constant */
            type: "memory_prefix";
            /** @description Begins and ends with `/`. */
            path: string;
        };
        /** @description Texts by path that outlive a session. */
        MemoryStore: {
            id: string;
            /** @constant */
            type: "memory_store";
            name: string;
            description: string;
            metadata: {
                [key: string]: string;
            };
            /** @description As it was sent. */
            agent_id: string | null;
            /** @description As it was sent. */
            embedding_model: string;
            /** @description As it was sent. */
            vector_index: string;
            /** @description When it was archived, or null. */
            archived_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
        };
        /**
         * @example {
         *       "name": "Conventions",
         *       "description": "How this team writes code"
         *     }
         */
        MemoryStoreCreateParams: {
            /** @description What people and agents call the store. */
            name: string;
            description?: string | null;
            metadata?: components["schemas"]["Metadata"] | null;
            /** @description Kept and returned. */
            agent_id?: string | null;
            /** @description Kept and returned. */
            embedding_model?: string | null;
            /** @description Kept and returned. */
            vector_index?: string | null;
        };
        /** @description A memory store in the session. */
        MemoryStoreResource: {
            id: string;
            /** @description As it was sent. */
            mount_path: string;
            /** @description Where it lies in the sandbox. */
            resolved_path: string;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "memory_store";
            memory_store_id: string;
            /**
             * @description Whether the session may change the store.
             * @enum {string}
             */
            access: "read_write" | "read_only";
            /** @description The name of the store when it was attached. */
            name: string;
            /** @description Its description when it was attached. */
            description: string;
            /** @description How the agent is to use the store, or null. */
            instructions: string | null;
        };
        /** @description A memory store, mounted as a folder. */
        MemoryStoreResourceParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "memory_store";
            memory_store_id: string;
            /** @description Whether the session may change the store; `read_write` when absent. */
            access?: ("read_write" | "read_only") | null;
            /** @description The agent reads how to use the store. */
            instructions?: string | null;
            /** @description Where it lies in the sandbox; the service chooses a place when absent. */
            mount_path?: string | null;
        };
        /**
         * @example {
         *       "name": "Conventions of the team"
         *     }
         */
        MemoryStoreUpdateParams: {
            name?: string | null;
            description?: string | null;
            metadata?: components["schemas"]["MetadataPatch"] | null;
        };
        /**
         * @example {
         *       "content": "A type is a noun, a function a verb with its object."
         *     }
         */
        MemoryUpdateParams: {
            /** @description A new path; it stays when absent. */
            path?: string | null;
            /** @description The text, at most 102,400 bytes; null is empty. */
            content?: string | null;
            /** @description The content that you have read: refused where the memory has another by now. */
            precondition?: {
                /** @constant */
                type: "content_sha256";
                /** @description The hash of the text that you have read. */
                content_sha256: string;
            } | null;
        };
        /** @description One change of a memory. */
        MemoryVersion: {
            id: string;
            /** @constant */
            type: "memory_version";
            memory_id: string;
            memory_store_id: string;
            /**
             * @description What was done to the memory.
             * @enum {string}
             */
            operation: "created" | "modified" | "deleted";
            /** @description The path at that time; null once redacted. */
            path: string | null;
            /** @description The text at that time; null in the basic view and once redacted. */
            content: string | null;
            /** @description The hash of the text; null once redacted. */
            content_sha256: string | null;
            /** @description The size of the text in bytes; null once redacted. */
            content_size_bytes: number | null;
            created_by: components["schemas"]["Actor"];
            /** @description When the content was removed, or null. */
            redacted_at: components["schemas"]["Timestamp"] | null;
            /** @description Who has removed the content, or null. With the header `anthropic-version` absent in place of null. */
            redacted_by?: components["schemas"]["Actor"] | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
        };
        /** @description Pairs of your own: at most 16, keys of 1 to 64 characters, values of up to 512. */
        Metadata: {
            [key: string]: string;
        };
        /** @description A string sets its key, null removes the key, and a key that is absent stays. */
        MetadataPatch: {
            [key: string]: string | null;
        };
        /** @description How a model is reached. */
        ModelCard: {
            id: string;
            /** @constant */
            type: "model_card";
            /** @description The handle that agents name. */
            model_id: string;
            /** @description Whose wire the model speaks. */
            provider: string;
            /** @description The identifier of the model at the provider. */
            model: string;
            /** @description What people call the model, or null. */
            display_name: string | null;
            /** @description The address of the model; null: the provider's own. */
            base_url: string | null;
            /** @description Names of the headers, without their values. */
            custom_headers: string[];
            /** @description Enough of the key to recognise it. */
            api_key_preview: string;
            native_config: components["schemas"]["NativeConfig"] | null;
            /** @description Where in a cloud the model is, or null. */
            cloud: components["schemas"]["ModelCloud"] | null;
            /** @description The kind of the credentials; null: the card has an `api_key`. */
            credentials_type: ("aws_keys" | "service_account" | "client_secret" | "machine") | null;
            /** @description What came of trying the key, in the answer to a write. */
            probe?: {
                /** @description True: the key works. False: the provider could not be asked. Null: the key was not tried. */
                ok: boolean | null;
                /** @description The address that was asked. */
                url?: string;
                /** @description Why the key does not work, or was not tried. */
                message?: string;
            } & {
                [key: string]: unknown;
            };
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "model_id": "local-model",
         *       "provider": "example",
         *       "model": "example-model",
         *       "base_url": "https://models.example.com/v1",
         *       "api_key": "example-key",
         *       "native_config": {
         *         "api": "openai-completions"
         *       }
         *     }
         */
        ModelCardCreateParams: {
            /** @description The handle that agents name; it does not change. */
            model_id: string;
            /** @description Whose wire the model speaks; it does not change. */
            provider: string;
            /** @description The identifier of the model at the provider. */
            model: string;
            /** @description What people call the model. */
            display_name?: string | null;
            /** @description An address in place of the provider's own. */
            base_url?: string | null;
            /** @description Headers of each request. No answer has their values. */
            custom_headers?: {
                [key: string]: string;
            } | null;
            /** @description The provider's key. No answer contains it. May be left out for `oai-compatible` and `ant-compatible`, and with `credentials`. */
            api_key?: (string | "") | null;
            /** @description Where the model is, for the providers `bedrock`, `vertex` and `foundry`. */
            cloud?: components["schemas"]["ModelCloud"] | null;
            credentials?: (components["schemas"]["AwsKeys"] | components["schemas"]["GoogleServiceAccountKey"] | components["schemas"]["AzureClientSecret"] | components["schemas"]["MachineIdentity"]) | null;
            native_config?: components["schemas"]["NativeConfig"] | null;
        };
        /** @description What came of asking the model of a card for a few tokens. */
        ModelCardProbe: {
            /** @description True: the key works. False: the provider could not be asked. Null: the key was not tried. */
            ok: boolean | null;
            /** @description The address that was asked. */
            url?: string;
            /** @description Why the key does not work, or was not tried. */
            message?: string;
            /** @constant */
            type: "model_card_probe";
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "display_name": "Model of the house"
         *     }
         */
        ModelCardUpdateParams: {
            /** @description The handle that agents name; it does not change. */
            model_id?: string;
            /** @description Whose wire the model speaks; it does not change. */
            provider?: string;
            /** @description The identifier of the model at the provider. */
            model?: string;
            /** @description What people call the model. */
            display_name?: string | null;
            /** @description An address in place of the provider's own. */
            base_url?: string | null;
            /** @description Headers of each request. No answer has their values. */
            custom_headers?: {
                [key: string]: string;
            } | null;
            /** @description The provider's key. No answer contains it. May be left out for `oai-compatible` and `ant-compatible`, and with `credentials`. */
            api_key?: (string | "") | null;
            /** @description Where the model is, for the providers `bedrock`, `vertex` and `foundry`. */
            cloud?: components["schemas"]["ModelCloud"] | null;
            credentials?: (components["schemas"]["AwsKeys"] | components["schemas"]["GoogleServiceAccountKey"] | components["schemas"]["AzureClientSecret"] | components["schemas"]["MachineIdentity"]) | null;
            native_config?: components["schemas"]["NativeConfig"] | null;
        };
        /** @description The models of a provider that the service knows. */
        ModelCatalog: {
            /** @description The provider that was asked for. */
            provider: string;
            data: ({
                id: string;
            } & {
                [key: string]: unknown;
            })[];
        };
        /**
         * @example {
         *       "provider": "anthropic"
         *     }
         */
        ModelCatalogParams: {
            /** @description The name of the provider, such as `anthropic`. */
            provider: string;
            /**
             * @deprecated
             * @description Asks a few providers for their live list.
             */
            api_key?: string;
        };
        /** @description Where in a cloud the model is. */
        ModelCloud: {
            /** @description The region of Bedrock or Vertex AI, such as `eu-central-1`. */
            region?: string;
            /** @description The project of Google Cloud. */
            project?: string;
            /** @description The resource of Microsoft Foundry. */
            resource?: string;
            /** @description The prefix of Bedrock's inference profile; left out: the one of the region. */
            prefix?: string;
        };
        /** @description A model card, with what this agent sets. */
        ModelConfig: {
            /** @description The `model_id` of a model card of the workspace. */
            id: string;
            /** @description How much the model thinks. */
            effort?: (unknown | components["schemas"]["Effort"]) | null;
            /** @description `fast` turns on the provider's fast mode; a provider without one refuses it. */
            speed?: ("standard" | "fast") | null;
            /** @description Kept and returned; it has no influence on where a request goes. */
            inference_geo?: ("us" | "global") | null;
        };
        /** @description A model card, with what this agent sets. */
        ModelConfigParams: {
            /** @description The `model_id` of a model card of the workspace. */
            id: string;
            /** @description How much the model thinks. */
            effort?: (("low" | "medium" | "high" | "xhigh" | "max") | components["schemas"]["Effort"]) | null;
            /** @description `fast` turns on the provider's fast mode; a provider without one refuses it. */
            speed?: ("standard" | "fast") | null;
            /** @description Kept and returned; it has no influence on where a request goes. */
            inference_geo?: ("us" | "global") | null;
        };
        /** @description A model that the workspace can run. */
        ModelInfo: {
            id: string;
            /** @constant */
            type: "model";
            /** @description What people call the model. */
            display_name: string;
            created_at: string;
            /**
             * @description Whether the provider still offers the model.
             * @enum {string}
             */
            lifecycle: "active" | "deprecated" | "retired";
            /** @description Tokens of one request at most, or null where that is not known. */
            max_input_tokens: number | null;
            /** @description Tokens of one answer at most, or null where that is not known. */
            max_tokens: number | null;
            /** @description What usage, budgets and spend limits count with, or null where no price is known. */
            list_price: {
                /** @description US dollars for a million tokens. */
                input: number;
                /** @description US dollars for a million tokens. */
                output: number;
                /** @description US dollars for a million tokens. */
                cache_read: number;
                /** @description US dollars for a million tokens. */
                cache_write: number;
            } | null;
            /** @description What the model is known to do, or null. */
            capabilities: {
                [key: string]: unknown;
            } | null;
        } & {
            [key: string]: unknown;
        };
        /** @description Every level, with references to agents. */
        Multiagent20261001: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "multiagent_20261001";
            /** @description The model that the primary thread may ask for advice. */
            advisor: {
                /** @constant */
                type: "enabled";
                /** @description The identifier of a model. */
                model: string;
            } | {
                /** @constant */
                type: "disabled";
            };
            /** @description Whether the agent may start threads, and which agents run them. */
            subagents: {
                /** @constant */
                type: "enabled";
                /** @description Whether the agent may define agents of its own when it starts threads. */
                inline_agents: {
                    /** @enum {string} */
                    type: "enabled" | "disabled";
                };
                /** @description The agents that it may start. */
                predefined_agents: components["schemas"]["AgentReference"][];
            } | {
                /** @constant */
                type: "disabled";
            };
            /** @description Always disabled. */
            workflows: {
                /** @constant */
                type: "disabled";
            };
        };
        /**
         * @description An advisor, threads and workflows, each enabled or disabled. An update is merged into a stored configuration of this type, level by level.
         * @example {
         *       "type": "multiagent_20261001",
         *       "advisor": {
         *         "type": "enabled",
         *         "model": "offline"
         *       },
         *       "subagents": {
         *         "type": "enabled",
         *         "predefined_agents": [
         *           "agent_018f3c2a7b1d7000a1b2c3d4e5f60718"
         *         ]
         *       },
         *       "workflows": {
         *         "type": "disabled"
         *       }
         *     }
         */
        Multiagent20261001Params: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "multiagent_20261001";
            /** @description Disabled when absent or null. */
            advisor?: ({
                /** @constant */
                type: "enabled";
                /** @description The identifier of a model. */
                model: string;
            } | {
                /** @constant */
                type: "disabled";
            }) | null;
            /** @description Whether it may start threads. Enabled when absent or null. */
            subagents?: ({
                /** @constant */
                type: "enabled";
                /** @description Enabled when absent or null. */
                inline_agents?: {
                    /** @enum {string} */
                    type: "enabled" | "disabled";
                } | null;
                /** @description Agents that it may start, each once; none when absent or null. */
                predefined_agents?: (string | (components["schemas"]["AgentParams"] | components["schemas"]["MultiagentSelfParams"]))[] | null;
            } | {
                /** @constant */
                type: "disabled";
            }) | null;
            /** @description Must be disabled: workflows are not yet supported. */
            workflows?: {
                /** @constant */
                type: "disabled";
            } | null;
        };
        /** @description A coordinator with references to agents. */
        MultiagentCoordinator: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "coordinator";
            /** @description The agents that it may start; an advisor among them comes last. */
            agents: (components["schemas"]["AgentReference"] | components["schemas"]["Advisor"])[];
        };
        /**
         * @description An agent that starts agents of a list as threads of its session.
         * @example {
         *       "type": "coordinator",
         *       "agents": [
         *         "agent_018f3c2a7b1d7000a1b2c3d4e5f60718",
         *         {
         *           "type": "self"
         *         }
         *       ]
         *     }
         */
        MultiagentCoordinatorParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "coordinator";
            /** @description Agents that it may start, each once, and at most one advisor. */
            agents: (string | (components["schemas"]["AgentParams"] | components["schemas"]["MultiagentSelfParams"] | components["schemas"]["Advisor"]))[];
        };
        /** @description How an agent works with other agents. */
        MultiagentParams: components["schemas"]["MultiagentCoordinatorParams"] | components["schemas"]["Multiagent20261001Params"];
        /** @description The agent that has this configuration. */
        MultiagentSelfParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "self";
        };
        /** @description What is known of the model, beside its catalog entry. */
        NativeConfig: {
            name?: string;
            /** @description The wire that the model speaks, such as `openai-completions`. */
            api?: string;
            /** @description Whether the model thinks. */
            reasoning?: boolean;
            /** @description The word of the provider for each level of thinking; null: the model has no such level. */
            thinkingLevelMap?: {
                [key: string]: string | null;
            };
            /** @description What messages may hold. */
            input?: ("text" | "image" | "document")[];
            /** @description List prices: they count for usage, budgets and spend limits. */
            cost?: {
                /** @description US dollars for a million tokens. */
                input: number;
                /** @description US dollars for a million tokens. */
                output: number;
                /** @description US dollars for a million tokens. */
                cacheRead?: number;
                /** @description US dollars for a million tokens. */
                cacheWrite?: number;
            } & {
                [key: string]: unknown;
            };
            /** @description Tokens of one request at most. */
            contextWindow?: number;
            /** @description Tokens of one answer at most. */
            maxTokens?: number;
            /** @description Parameters of sampling, sent along with each request. */
            samplingParams?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description Headers of each request; secrets belong into `custom_headers`. */
            headers?: {
                [key: string]: string;
            };
            /** @description True: `base_url` is taken as it is, and no version such as `/v1` is put behind it. */
            exactBaseUrl?: boolean;
            /** @description How the provider differs from the wire that its model speaks. */
            compat?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
        };
        /** @description A key, as the administration shows it. */
        OrganizationApiKey: {
            id: string;
            /** @constant */
            type: "api_key";
            name: string;
            /** @description Enough of the key to recognise it. */
            partial_key_hint: string;
            /**
             * @description `inactive`: the key opens nothing until it is active again. `archived`: it is revoked for good.
             * @enum {string}
             */
            status: "active" | "inactive" | "expired" | "archived";
            workspace_id: string;
            /** @description The workspace that the key opens. */
            scope: {
                /** @constant */
                type: "workspace";
                workspace_id: string;
            };
            /** @description The person who has made it. Null where an operator or another key has. */
            created_by: {
                id: string;
                /** @constant */
                type: "user";
            } | null;
            /** @description Always null: a key acts as nobody but itself. */
            principal: null;
            /** @description When the key stops working, or null. */
            expires_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
        };
        /** @description Keys of the workspace, the newest first. */
        OrganizationApiKeyList: {
            data: components["schemas"]["OrganizationApiKey"][];
            /** @description Whether the list goes on, in the direction that was asked for. */
            has_more: boolean;
            first_id: string | null;
            last_id: string | null;
        };
        /**
         * @example {
         *       "name": "the second worker"
         *     }
         */
        OrganizationApiKeyUpdateParams: {
            /** @description What the key is for. */
            name?: string | null;
            /** @description What the key is from now on. */
            status?: ("active" | "inactive" | "archived") | null;
        };
        /** @description Where the work towards an outcome stands. */
        OutcomeEvaluation: {
            /** @constant */
            type: "outcome_evaluation";
            /** @description The id of the outcome. */
            outcome_id: string;
            description: string;
            /** @description Counts evaluations from 0. */
            iteration: number;
            /**
             * @description `pending`: no work has begun. `running`: the agent works or revises. `evaluating`: the work is judged. The others end the outcome.
             * @enum {string}
             */
            result: "pending" | "running" | "evaluating" | "satisfied" | "max_iterations_reached" | "failed" | "interrupted";
            /** @description Of the newest evaluation that ended. */
            explanation: string | null;
            /** @description When the outcome ended, or null. */
            completed_at: components["schemas"]["Timestamp"] | null;
        };
        /** @description How the workspace is, at a glance. */
        Overview: {
            /** @constant */
            type: "overview";
            /** @description Sessions whose turn runs. */
            running: number;
            /** @description Sessions that wait, each counted once by who ends the wait first. */
            waiting: {
                /** @description Sessions that a person can let go on. */
                person: number;
                /** @description Sessions at their budget. */
                money: number;
                /** @description Sessions that wait for anything else. */
                machine: number;
                /** @description Of these, sessions that wait for a free place. */
                queue: number;
            };
            /** @description What failed lately. */
            failed: {
                since: components["schemas"]["Timestamp"];
                /** @description Sessions whose last turn failed. */
                sessions: number;
            };
            /** @description Since midnight, UTC. Null where a model has no price. */
            cost_today: {
                /** @description US cents, as text. */
                amount: string;
                /** @constant */
                currency: "USD";
            } | null;
            /** @description The limits that hold. */
            spend_limits: components["schemas"]["SpendSummary"][];
            /** @description The cost of the last 14 days, the oldest first. */
            days: {
                /** @description The day, UTC. */
                date: string;
                /** @description Null where a model has no price. */
                list_cost: {
                    /** @description US cents, as text. */
                    amount: string;
                    /** @constant */
                    currency: "USD";
                } | null;
            }[];
        };
        /** @description Packages that are installed before the first command, by their names in the manager's registry. */
        Packages: {
            /** @constant */
            type?: "packages";
            /** @description At most 100, each a package name such as jq or jq=1.6-2.1. */
            apt?: string[] | null;
            /** @description At most 100, each a crate name such as ripgrep or ripgrep@14.1.0. */
            cargo?: string[] | null;
            /** @description At most 100, each a gem name such as rake or rake:13.2.1. */
            gem?: string[] | null;
            /** @description At most 100, each a package path such as example.com/cmd/tool or example.com/cmd/tool@v1.2.3. */
            go?: string[] | null;
            /** @description At most 100, each a package name such as prettier, @scope/name or prettier@3.6.2. */
            npm?: string[] | null;
            /** @description At most 100, each a package name such as rich, rich==14.0.0 or rich>=13,<15. */
            pip?: string[] | null;
        };
        /**
         * @example {
         *       "current_password": "correct horse battery",
         *       "new_password": "another horse battery"
         *     }
         */
        PasswordChangeParams: {
            /** @description The password until now. */
            current_password: string;
            /** @description 10 to 128 characters. */
            new_password: string;
        };
        /** @description Whether a call of the tool runs at once or waits for a `user.tool_confirmation`. */
        PermissionPolicy: {
            /** @enum {string} */
            type: "always_allow" | "always_ask" | "auto";
        };
        /** @description A person who has no account any more. */
        PersonDeleted: {
            /** @constant */
            type: "person_deleted";
            /** @description Of the person. */
            id: string;
            /** @description Keys that the person has made, which were valid until now. */
            keys: {
                id: string;
                workspace_id: string;
                name: string;
                /**
                 * @description `environment` for a key of workers.
                 * @enum {string}
                 */
                kind: "workspace" | "environment";
                /** @description Whether it is a workspace-admin key. */
                admin: boolean;
                /** @description Enough of the key to recognise it. */
                preview: string;
                /** @description When the key was last used, or null. */
                last_used_at: components["schemas"]["Timestamp"] | null;
            }[];
            /** @description Whether these keys were revoked. */
            revoked: boolean;
        };
        /** @description The text itself. */
        PlainTextDocumentSource: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "text";
            /** @constant */
            media_type: "text/plain";
            data: string;
        };
        /** @description The text itself. */
        PlainTextDocumentSourceParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "text";
            /** @constant */
            media_type: "text/plain";
            data: string;
        };
        /** @description How much a workspace may hold, or do at once. */
        Quota: {
            /** @constant */
            type: "quota";
            /**
             * @description `agents`: agents that are not archived; `memory_stores`: memory stores that are not archived; `stored_bytes`: bytes of its files, outputs, versions of skills and memories; `sessions_daily`: sessions that it creates in a day (UTC); `sessions_running`: sessions that run at once, in each process; `sandboxes`: sandboxes that run at once, in each process; `streams`: event streams that are open, in each process; `messages`: requests of `/v1/messages` that run at once, in each process; 0 switches them off; `tunnels`: connections from its sandboxes to the outside, in each process; `folder_bytes`: bytes of the folders of one session; `folder_files`: files in the folders of one session
             * @enum {string}
             */
            name: "agents" | "memory_stores" | "stored_bytes" | "sessions_daily" | "sessions_running" | "sandboxes" | "streams" | "messages" | "tunnels" | "folder_bytes" | "folder_files";
            /** @description What holds for the workspace; null: no limit. */
            value: number | null;
            /**
             * @description Who has set the value: the settings of the server where nobody else has.
             * @enum {string}
             */
            source: "server" | "operator" | "workspace";
            /** @description What the workspace has set, or else what it is allowed; null: no limit. */
            limit: number | null;
            /** @description The most that the workspace is allowed; null: no limit. */
            allowed: number | null;
            /** @description How much is used now: of what counts in each process, in the one that answers. Null for the folders of sessions. */
            used: number | null;
        };
        /**
         * @example {
         *       "limit": 100
         *     }
         */
        QuotaUpdateParams: {
            /** @description Null: what the workspace is allowed. */
            limit: number | null;
        };
        /** @description How long a workspace keeps what it has. */
        Retention: {
            /** @constant */
            type: "retention";
            /** @description Sessions that are idle or archived, since they last began, came to rest or were updated. */
            sessions: {
                /** @description The days that hold: the lower of what the workspace and the operator say. */
                days: number | null;
                /** @description The workspace's own days. Absent: it has said nothing. */
                workspace?: number | null;
                /** @description The operator's days for workspaces that say nothing. */
                default: number | null;
                /** @description The most days that the operator allows. */
                most: number | null;
                /** @description How many would be removed now, counted up to 10,000. */
                due: number;
                /** @description How many more are old enough and stay because of a hold. */
                held: number;
            };
            /** @description Files that callers uploaded, since their upload. */
            files: {
                /** @description The days that hold: the lower of what the workspace and the operator say. */
                days: number | null;
                /** @description The workspace's own days. Absent: it has said nothing. */
                workspace?: number | null;
                /** @description The operator's days for workspaces that say nothing. */
                default: number | null;
                /** @description The most days that the operator allows. */
                most: number | null;
                /** @description How many would be removed now, counted up to 10,000. */
                due: number;
                /** @description How many more are old enough and stay because of a hold. */
                held: number;
            };
            /** @description Files that sessions made, since they were made. */
            outputs: {
                /** @description The days that hold: the lower of what the workspace and the operator say. */
                days: number | null;
                /** @description The workspace's own days. Absent: it has said nothing. */
                workspace?: number | null;
                /** @description The operator's days for workspaces that say nothing. */
                default: number | null;
                /** @description The most days that the operator allows. */
                most: number | null;
                /** @description How many would be removed now, counted up to 10,000. */
                due: number;
                /** @description How many more are old enough and stay because of a hold. */
                held: number;
            };
            /** @description Versions of memories other than the newest, since they were made. */
            memory_versions: {
                /** @description The days that hold: the lower of what the workspace and the operator say. */
                days: number | null;
                /** @description The workspace's own days. Absent: it has said nothing. */
                workspace?: number | null;
                /** @description The operator's days for workspaces that say nothing. */
                default: number | null;
                /** @description The most days that the operator allows. */
                most: number | null;
                /** @description How many would be removed now, counted up to 10,000. */
                due: number;
                /** @description How many more are old enough and stay because of a hold. */
                held: number;
            };
            /** @description Deliveries of webhooks and of integrations, since they came to their end. */
            deliveries: {
                /** @description The days that hold: the lower of what the workspace and the operator say. */
                days: number | null;
                /** @description The workspace's own days. Absent: it has said nothing. */
                workspace?: number | null;
                /** @description The operator's days for workspaces that say nothing. */
                default: number | null;
                /** @description The most days that the operator allows. */
                most: number | null;
                /** @description How many would be removed now, counted up to 10,000. */
                due: number;
                /** @description How many more are old enough and stay because of a hold. */
                held: number;
            };
        };
        /**
         * @description Days by kind. An absent kind stays; null keeps for as long as the operator allows.
         * @example {
         *       "sessions": 90,
         *       "outputs": 30,
         *       "files": null
         *     }
         */
        RetentionUpdateParams: {
            /** @description Sessions that are idle or archived, since they last began, came to rest or were updated. */
            sessions?: number | null;
            /** @description Files that callers uploaded, since their upload. */
            files?: number | null;
            /** @description Files that sessions made, since they were made. */
            outputs?: number | null;
            /** @description Versions of memories other than the newest, since they were made. */
            memory_versions?: number | null;
            /** @description Deliveries of webhooks and of integrations, since they came to their end. */
            deliveries?: number | null;
        };
        /** @description What is allowed in a workspace, and by whom. */
        Rules: {
            /** @constant */
            type: "rules";
            /** @description What agents, environments and webhooks of the workspace may name. */
            allowed: {
                /** @description MCP servers: hosts (`mcp.example.com`, `*.example.com`), beginnings of URLs (`https://mcp.example.com/team/`), and `stdio:NAME` for servers that workers start. */
                mcp_servers: {
                    /** @description The operator's list. Null: everything is allowed. */
                    operator: string[] | null;
                    /** @description The workspace's own list, which narrows further. Null: it narrows nothing. */
                    workspace: string[] | null;
                };
                /** @description Models: names at their provider, alone or behind it (`anthropic/claude-*`, `offline`). */
                models: {
                    /** @description The operator's list. Null: everything is allowed. */
                    operator: string[] | null;
                    /** @description The workspace's own list, which narrows further. Null: it narrows nothing. */
                    workspace: string[] | null;
                };
                /** @description Webhooks: hosts and beginnings of URLs, as for MCP servers. */
                webhooks: {
                    /** @description The operator's list. Null: everything is allowed. */
                    operator: string[] | null;
                    /** @description The workspace's own list, which narrows further. Null: it narrows nothing. */
                    workspace: string[] | null;
                };
                /** @description Images that environments name as `base_image` (`registry.example.com/team/*`). */
                images: {
                    /** @description The operator's list. Null: everything is allowed. */
                    operator: string[] | null;
                    /** @description The workspace's own list, which narrows further. Null: it narrows nothing. */
                    workspace: string[] | null;
                };
            };
            /** @description When the workspace last changed its own lists. */
            updated_at: string | null;
        };
        /**
         * @example {
         *       "allowed": {
         *         "models": [
         *           "claude-*",
         *           "offline"
         *         ],
         *         "webhooks": [
         *           "*.example.com"
         *         ]
         *       }
         *     }
         */
        RulesUpdateParams: {
            /** @description The workspace's own lists. A list that is absent stays, null removes it, [] allows nothing. */
            allowed: {
                /** @description MCP servers: hosts (`mcp.example.com`, `*.example.com`), beginnings of URLs (`https://mcp.example.com/team/`), and `stdio:NAME` for servers that workers start. */
                mcp_servers?: string[] | null;
                /** @description Models: names at their provider, alone or behind it (`anthropic/claude-*`, `offline`). */
                models?: string[] | null;
                /** @description Webhooks: hosts and beginnings of URLs, as for MCP servers. */
                webhooks?: string[] | null;
                /** @description Images that environments name as `base_image` (`registry.example.com/team/*`). */
                images?: string[] | null;
            };
        };
        /** @description Text that a search found. */
        SearchResultBlock: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "search_result";
            /** @description Where the text was found. */
            source: string;
            title: string;
            /** @description The text that was found. */
            content: components["schemas"]["TextBlock"][];
            /**
             * @description Whether the model may cite the text.
             * @default {
             *       "enabled": false
             *     }
             */
            citations: {
                /** @description True: the model may cite the text. */
                enabled: boolean;
            };
        };
        /** @description Text that a search found. */
        SearchResultBlockParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "search_result";
            /** @description Where the text was found. */
            source: string;
            title: string;
            /** @description The text that was found. */
            content: components["schemas"]["TextBlock"][];
            /**
             * @description Whether the model may cite the text.
             * @default {
             *       "enabled": false
             *     }
             */
            citations: {
                /** @description True: the model may cite the text. */
                enabled: boolean;
            };
        };
        /** @description A secret in a secret manager of the company, which is read when it is used. */
        SecretReference: {
            /** @constant */
            type: "secret_reference";
            /** @description The secret manager, by its name in the settings of the server. */
            manager: string;
            /** @description The name of the secret there, below the path of the workspace. */
            name: string;
            /** @description The field to take of a secret that has several. HashiCorp Vault and OpenBao have fields; elsewhere the secret is then a JSON object. */
            field?: string;
            /** @description The version to take; the newest when absent. */
            version?: string;
        };
        /** @description Sessions run on workers of your own. */
        SelfHostedConfig: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "self_hosted";
            /** @description Milliseconds until an item that no worker acknowledged is given again. */
            reclaim_older_than_ms?: number | null;
        };
        /** @description A session that a worker may claim. */
        SelfHostedWork: {
            id: string;
            /** @constant */
            type: "work";
            environment_id: string;
            /**
             * @description `starting`: acknowledged. `active`: its worker sends heartbeats.
             * @enum {string}
             */
            state: "queued" | "starting" | "active" | "stopping" | "stopped";
            /** @description The session to work on. */
            data: {
                /** @constant */
                type: "session";
                id: string;
            };
            /** @description Base64 of JSON with the tokens of the claim; in the answer to a poll alone. */
            secret: string | null;
            metadata: {
                [key: string]: string;
            };
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When a worker acknowledged the item, or null. */
            acknowledged_at: components["schemas"]["Timestamp"] | null;
            /** @description When the first heartbeat came, or null. */
            started_at: components["schemas"]["Timestamp"] | null;
            /** @description When the newest heartbeat came, or null. */
            latest_heartbeat_at: components["schemas"]["Timestamp"] | null;
            /** @description When a stop was asked for, or null. */
            stop_requested_at: components["schemas"]["Timestamp"] | null;
            /** @description When the item ended, or null. */
            stopped_at: components["schemas"]["Timestamp"] | null;
        };
        /** @description Figures of the queue. */
        SelfHostedWorkQueueStats: {
            /** @constant */
            type: "work_queue_stats";
            /** @description Items that wait for a worker. */
            depth: number;
            /** @description Items that a worker was given and has not acknowledged. */
            pending: number;
            /** @description Since when the oldest item waits, or null. */
            oldest_queued_at: components["schemas"]["Timestamp"] | null;
            /** @description Workers that asked in the last 30 seconds. */
            workers_polling: number | null;
        };
        /** @description One conversation with an agent in an environment. */
        Session: {
            id: string;
            /** @constant */
            type: "session";
            /**
             * @description Where the session stands. `terminated` is the word of the official client for `done`, `failed` and archived.
             * @enum {string}
             */
            status: "pending" | "running" | "idle" | "done" | "failed" | "rescheduling" | "terminated";
            /** @description The agent that it was created from. */
            agent_id: string;
            /** @description The version that it pinned. */
            agent_version: number;
            agent: components["schemas"]["SessionAgent"];
            environment_id: string;
            title: string | null;
            metadata: {
                [key: string]: string;
            };
            /** @description In the order of their precedence. */
            vault_ids: string[];
            /** @description The deployment that has created it. */
            deployment_id: string | null;
            /** @description The files, repositories and memory stores of the session. */
            resources: components["schemas"]["SessionResource"][];
            usage: components["schemas"]["SessionUsage"];
            stats: components["schemas"]["SessionStats"];
            /** @description Every outcome that was defined in the session, in order. */
            outcome_evaluations: components["schemas"]["OutcomeEvaluation"][];
            budget: components["schemas"]["SessionBudget"] | null;
            /** @description The session whose history this one began with. */
            forked_from: {
                session_id: string;
                /** @description The last event that both have. */
                seq: number;
                /** @description The working folder that the fork begins with. Null: an empty one. */
                checkpoint: {
                    /** @description The newest event when the working folder was saved. */
                    seq: number;
                    taken_at: components["schemas"]["Timestamp"];
                } | null;
            } | null;
            /** @description When the session goes on by itself, because its agent has asked for it. */
            wakeup_at: components["schemas"]["Timestamp"] | null;
            /** @description Why the session does not go on. Absent with `anthropic-version`. */
            waiting_on?: components["schemas"]["WaitingOn"];
            /** @description When it was archived, or null. */
            archived_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
        } & {
            [key: string]: unknown;
        };
        /** @description The agent as the session runs it: the pinned version with its overrides. */
        SessionAgent: {
            id: string;
            /** @constant */
            type: "agent";
            /** @description Begins at 1; every change raises it. */
            version: number;
            name: string;
            description: string | null;
            /** @description The system prompt, or null. */
            system: string | null;
            /** @description A model: its identifier, or an object that names a model card. */
            model: string | components["schemas"]["ModelConfig"];
            /** @description Toolsets and tools of your own, at most 256 tools in all. */
            tools: (components["schemas"]["AgentToolset20260401"] | components["schemas"]["MCPToolset"] | components["schemas"]["CustomTool"])[];
            /** @description The MCP servers, without their tokens. */
            mcp_servers: components["schemas"]["MCPServerShown"][];
            /** @description The skills, each with its version. */
            skills: components["schemas"]["SkillParams"][];
            /** @description Who the agent acts as: always `service_account`. */
            execution_identity: {
                /** @constant */
                type: "service_account";
            } & {
                [key: string]: unknown;
            };
            metadata: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description The environment of sessions that name none. */
            environment_id: string | null;
            /** @description A memory store that every session of the agent may read and write. */
            memory_store_id: string | null;
            /** @description What runs the turns of its sessions. */
            harness: string;
            /** @description The form of the texts that it writes. */
            answers?: components["schemas"]["Answers"];
            /** @description Most threads that it may have working at one time. */
            max_concurrent_subagents?: number;
            /** @description How the agent works with other agents. Null: it works alone. */
            multiagent: (components["schemas"]["SessionMultiagentCoordinator"] | components["schemas"]["SessionMultiagent20261001"]) | null;
        } & {
            [key: string]: unknown;
        };
        /** @description People have allowed tools for this session, or taken that back. */
        SessionAllowancesChangedEvent: {
            id: string;
            /** @constant */
            type: "session.allowances_changed";
            /** @description All that are allowed now. */
            tools: string[];
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description A limit for what a session costs at list prices. */
        SessionBudget: {
            /** @constant */
            type: "limit";
            /** @description Most that the session may cost, at list prices. */
            max_list_cost: {
                /** @description US cents, as text. */
                amount: string;
                /** @constant */
                currency: "USD";
            };
        };
        /**
         * @example {
         *       "agent": "agent_018f3c2a7b1d7000a1b2c3d4e5f60718",
         *       "environment_id": "env_018f3c2a7b1d7002a1b2c3d4e5f60718",
         *       "title": "Review of the parser",
         *       "initial_events": [
         *         {
         *           "type": "user.message",
         *           "content": [
         *             {
         *               "type": "text",
         *               "text": "Review the parser."
         *             }
         *           ]
         *         }
         *       ]
         *     }
         */
        SessionCreateParams: {
            /** @description The id of an agent, or an object that pins a version. */
            agent: string | (components["schemas"]["AgentParams"] | components["schemas"]["AgentWithOverridesParams"]);
            /** @description Where its commands run. Required unless the agent names an environment. */
            environment_id?: string | null;
            /** @description What people call the session. */
            title?: string | null;
            metadata?: components["schemas"]["Metadata"] | null;
            /** @description What the session works on. */
            resources?: (components["schemas"]["FileResourceParams"] | components["schemas"]["GitHubRepositoryResourceParams"] | components["schemas"]["MemoryStoreResourceParams"])[] | null;
            vault_ids?: string[] | null;
            /** @description Messages that are posted at once, in order, and at most one outcome. */
            initial_events?: (components["schemas"]["UserMessageParams"] | components["schemas"]["UserDefineOutcomeEventParams"])[] | null;
            /** @description Most that the session may cost. It cannot be added later. */
            budget?: components["schemas"]["SessionBudget"] | null;
        };
        /** @description The session was deleted. */
        SessionDeletedEvent: {
            id: string;
            /** @constant */
            type: "session.deleted";
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The packages of the environment are being installed. */
        SessionEnvironmentBuildEvent: {
            id: string;
            /** @constant */
            type: "session.environment_build";
            /**
             * @description `waiting`: another process installs the same packages.
             * @enum {string}
             */
            state: "waiting" | "running" | "done" | "failed";
            /** @description The package manager that runs; null while waiting. */
            manager: ("apt" | "cargo" | "gem" | "go" | "npm" | "pip") | null;
            /** @description What the package manager said last. */
            lines: string[];
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description What went wrong in a session. */
        SessionError: {
            /** @description A sentence for a person. */
            message: string;
            /** @description Whether the service tries again by itself. */
            retry_status: {
                /** @enum {string} */
                type: "retrying" | "exhausted" | "terminal";
            };
            /** @enum {string} */
            type: "unknown_error" | "model_overloaded_error" | "model_rate_limited_error" | "model_request_failed_error" | "billing_error" | "tool_use_limit_reached_error" | "compaction_limit_reached_error";
        } | {
            /** @description A sentence for a person. */
            message: string;
            /** @description Whether the service tries again by itself. */
            retry_status: {
                /** @enum {string} */
                type: "retrying" | "exhausted" | "terminal";
            };
            /** @enum {string} */
            type: "mcp_connection_failed_error" | "mcp_authentication_failed_error";
            /** @description The name of the MCP server. */
            mcp_server_name: string;
        } | {
            /** @description A sentence for a person. */
            message: string;
            /** @description Whether the service tries again by itself. */
            retry_status: {
                /** @enum {string} */
                type: "retrying" | "exhausted" | "terminal";
            };
            /** @constant */
            type: "credential_host_unreachable_error";
            vault_id: string;
            credential_id: string;
        } | {
            /** @description A sentence for a person. */
            message: string;
            /** @description Whether the service tries again by itself. */
            retry_status: {
                /** @enum {string} */
                type: "retrying" | "exhausted" | "terminal";
            };
            /** @enum {string} */
            type: "repository_authentication_error" | "repository_forbidden_error" | "repository_not_found_error" | "repository_checkout_error" | "repository_clone_error";
            /** @description The address of the repository, or null. */
            repository_url: string | null;
        };
        /** @description Something has failed. */
        SessionErrorEvent: {
            id: string;
            /** @constant */
            type: "session.error";
            error: components["schemas"]["SessionError"];
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description Something that was said or done in a session. */
        SessionEvent: components["schemas"]["UserMessageEvent"] | components["schemas"]["UserInterruptEvent"] | components["schemas"]["UserToolConfirmationEvent"] | components["schemas"]["UserCustomToolResultEvent"] | components["schemas"]["UserToolResultEvent"] | components["schemas"]["SystemMessageEvent"] | components["schemas"]["UserDefineOutcomeEvent"] | components["schemas"]["AgentMessageEvent"] | components["schemas"]["AgentThinkingEvent"] | components["schemas"]["AgentToolUseEvent"] | components["schemas"]["AgentToolResultEvent"] | components["schemas"]["AgentAdvisorToolUseEvent"] | components["schemas"]["AgentAdvisorToolResultEvent"] | components["schemas"]["AgentMCPToolUseEvent"] | components["schemas"]["AgentMCPToolResultEvent"] | components["schemas"]["AgentCustomToolUseEvent"] | components["schemas"]["AgentThreadContextCompactedEvent"] | components["schemas"]["AgentThreadMessageReceivedEvent"] | components["schemas"]["AgentThreadMessageSentEvent"] | components["schemas"]["SessionThreadCreatedEvent"] | components["schemas"]["SessionThreadStatusRunningEvent"] | components["schemas"]["SessionThreadStatusRescheduledEvent"] | components["schemas"]["SessionThreadStatusTerminatedEvent"] | components["schemas"]["SessionThreadStatusIdleEvent"] | components["schemas"]["SessionStatusRunStartedEvent"] | components["schemas"]["SessionStatusRunningEvent"] | components["schemas"]["SessionStatusRescheduledEvent"] | components["schemas"]["SessionStatusTerminatedEvent"] | components["schemas"]["SessionStatusIdleEvent"] | components["schemas"]["SessionErrorEvent"] | components["schemas"]["SessionUpdatedEvent"] | components["schemas"]["SessionUsageEvent"] | components["schemas"]["SessionDeletedEvent"] | components["schemas"]["SpanModelRequestStartEvent"] | components["schemas"]["SpanModelRequestEndEvent"] | components["schemas"]["SpanCompactionSummarizeStartEvent"] | components["schemas"]["SpanCompactionSummarizeEndEvent"] | components["schemas"]["SpanOutcomeEvaluationStartEvent"] | components["schemas"]["SpanOutcomeEvaluationOngoingEvent"] | components["schemas"]["SpanOutcomeEvaluationEndEvent"] | components["schemas"]["AuxModelCallEvent"] | components["schemas"]["SessionAllowancesChangedEvent"] | components["schemas"]["SessionWarningEvent"] | components["schemas"]["SessionEnvironmentBuildEvent"] | components["schemas"]["SystemUserMessageCancelledEvent"] | components["schemas"]["SystemUserMessageChangedEvent"] | components["schemas"]["SpanWakeupScheduledEvent"] | components["schemas"]["SystemWakeupEvent"] | components["schemas"]["SystemWakeupCancelledEvent"];
        /**
         * @example {
         *       "at_seq": 1,
         *       "title": "Another way"
         *     }
         */
        SessionForkParams: {
            /** @description The last event of the history, by its `seq`; the newest when absent. */
            at_seq?: number;
            /** @description What people call the session. */
            title?: string | null;
            /** @description Another agent, or another version of it, for the fork. The agent of the session when absent. */
            agent?: string | (components["schemas"]["AgentParams"] | components["schemas"]["AgentWithOverridesParams"]);
        };
        /** @description Every level, with agents as their threads run them. */
        SessionMultiagent20261001: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "multiagent_20261001";
            /** @description The model that the primary thread may ask for advice. */
            advisor: {
                /** @constant */
                type: "enabled";
                /** @description The identifier of a model. */
                model: string;
            } | {
                /** @constant */
                type: "disabled";
            };
            /** @description Whether the agent may start threads, and which agents run them. */
            subagents: {
                /** @constant */
                type: "enabled";
                /** @description Whether the agent may define agents of its own when it starts threads. */
                inline_agents: {
                    /** @enum {string} */
                    type: "enabled" | "disabled";
                };
                /** @description The agents that it may start. */
                predefined_agents: components["schemas"]["SessionThreadAgent"][];
            } | {
                /** @constant */
                type: "disabled";
            };
            /** @description Always disabled. */
            workflows: {
                /** @constant */
                type: "disabled";
            };
        };
        /** @description A coordinator with agents as their threads run them. */
        SessionMultiagentCoordinator: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "coordinator";
            /** @description The agents that it may start; an advisor among them comes last. */
            agents: (components["schemas"]["SessionThreadAgent"] | components["schemas"]["Advisor"])[];
        };
        /** @description Something that a session works on. */
        SessionResource: components["schemas"]["FileResource"] | components["schemas"]["GitHubRepositoryResource"] | components["schemas"]["MemoryStoreResource"];
        /** @description Seconds in which it ran, and since it was created. */
        SessionStats: {
            /** @description Seconds in which turns ran. */
            active_seconds: number;
            /** @description Seconds since the creation. */
            duration_seconds: number;
        };
        /** @description The turn has ended. No event of the turn follows. */
        SessionStatusIdleEvent: {
            id: string;
            /** @constant */
            type: "session.status_idle";
            stop_reason: components["schemas"]["StopReason"];
            /** @description Always null. */
            stop_details: null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The model will be asked again. */
        SessionStatusRescheduledEvent: {
            id: string;
            /** @constant */
            type: "session.status_rescheduled";
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description A run was queued. */
        SessionStatusRunStartedEvent: {
            id: string;
            /** @constant */
            type: "session.status_run_started";
            workspace_id: string;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description A run has begun or goes on. */
        SessionStatusRunningEvent: {
            id: string;
            /** @constant */
            type: "session.status_running";
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The session has ended for good. */
        SessionStatusTerminatedEvent: {
            id: string;
            /** @constant */
            type: "session.status_terminated";
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description A session in short, as lists show it. */
        SessionSummary: {
            id: string;
            /** @constant */
            type: "session_summary";
            /**
             * @description In the words of this interface.
             * @enum {string}
             */
            status: "pending" | "running" | "idle" | "done" | "failed";
            title: string | null;
            /** @description The beginning of its first message, which stands for a missing title. */
            first_words: string | null;
            waiting_on: components["schemas"]["WaitingOn"];
            agent_id: string;
            /** @description The version that it pinned. */
            agent_version: number;
            /** @description The name of its agent. */
            agent_name: string;
            environment_id: string;
            deployment_id: string | null;
            /** @description Who or what has made it. Null for a session of an earlier version. */
            created_by: {
                /** @description `api_key`, `user`, `deployment`, `eval_run` and others, as the audit has them. */
                type: string;
                id: string | null;
                /** @description The name at that time. */
                name: string | null;
            } | null;
            /** @description Totals of the session so far. */
            usage: {
                /** @description Tokens that models read, cached ones excepted. */
                input_tokens: number;
                /** @description Tokens that models wrote. */
                output_tokens: number;
                /** @description Tokens that were read from a cache. */
                cache_read_input_tokens: number;
                /** @description Tokens that were written to a cache. */
                cache_creation_input_tokens: number;
                /** @description Null where a model has no price. */
                list_cost: {
                    /** @description US cents, as text. */
                    amount: string;
                    /** @constant */
                    currency: "USD";
                } | null;
            };
            /** @description Turns that have begun. Null where an earlier version has not counted them. */
            turns: number | null;
            /** @description Seconds in which turns ran. */
            active_seconds: number;
            /** @description The newest event of any thread. */
            last_event: {
                /** @description Its place in the log. */
                seq: number;
                type: string;
                created_at: components["schemas"]["Timestamp"];
                /** @description Of a call: its tool. */
                tool?: string;
                /** @description Of a child thread: its id. */
                session_thread_id?: string;
            } | null;
            /** @description Why the last turn failed, shortened. Null where it did not. */
            failure: string | null;
            /** @description When it was archived. */
            archived_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
        };
        /** @description A session in short, with its turns and how full its context is. */
        SessionSummaryWithContext: {
            id: string;
            /** @constant */
            type: "session_summary";
            /**
             * @description In the words of this interface.
             * @enum {string}
             */
            status: "pending" | "running" | "idle" | "done" | "failed";
            title: string | null;
            /** @description The beginning of its first message, which stands for a missing title. */
            first_words: string | null;
            waiting_on: components["schemas"]["WaitingOn"];
            agent_id: string;
            /** @description The version that it pinned. */
            agent_version: number;
            /** @description The name of its agent. */
            agent_name: string;
            environment_id: string;
            deployment_id: string | null;
            /** @description Who or what has made it. Null for a session of an earlier version. */
            created_by: {
                /** @description `api_key`, `user`, `deployment`, `eval_run` and others, as the audit has them. */
                type: string;
                id: string | null;
                /** @description The name at that time. */
                name: string | null;
            } | null;
            /** @description Totals of the session so far. */
            usage: {
                /** @description Tokens that models read, cached ones excepted. */
                input_tokens: number;
                /** @description Tokens that models wrote. */
                output_tokens: number;
                /** @description Tokens that were read from a cache. */
                cache_read_input_tokens: number;
                /** @description Tokens that were written to a cache. */
                cache_creation_input_tokens: number;
                /** @description Null where a model has no price. */
                list_cost: {
                    /** @description US cents, as text. */
                    amount: string;
                    /** @constant */
                    currency: "USD";
                } | null;
            };
            /** @description Turns that have begun. */
            turns: number;
            /** @description Seconds in which turns ran. */
            active_seconds: number;
            /** @description The newest event of any thread. */
            last_event: {
                /** @description Its place in the log. */
                seq: number;
                type: string;
                created_at: components["schemas"]["Timestamp"];
                /** @description Of a call: its tool. */
                tool?: string;
                /** @description Of a child thread: its id. */
                session_thread_id?: string;
            } | null;
            /** @description Why the last turn failed, shortened. Null where it did not. */
            failure: string | null;
            /** @description When it was archived. */
            archived_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
            /** @description How full the context of the primary thread is. */
            context: {
                /** @description Tokens that the newest model request of the primary thread read, cached ones included. Null before the first one, and where the provider reports none. */
                used_tokens: number | null;
                /** @description Tokens of one request at most. Null where the model has no known window. */
                window_tokens: number | null;
                /** @description `used_tokens` of `window_tokens`: 1 is full. Null where one of them is. */
                share: number | null;
            };
        };
        /** @description An agent as a thread of a session runs it. */
        SessionThreadAgent: {
            id: string;
            /** @constant */
            type: "agent";
            /** @description Begins at 1; every change raises it. */
            version: number;
            name: string;
            description: string | null;
            /** @description The system prompt, or null. */
            system: string | null;
            /** @description A model: its identifier, or an object that names a model card. */
            model: string | components["schemas"]["ModelConfig"];
            /** @description Toolsets and tools of your own, at most 256 tools in all. */
            tools: (components["schemas"]["AgentToolset20260401"] | components["schemas"]["MCPToolset"] | components["schemas"]["CustomTool"])[];
            /** @description The MCP servers, without their tokens. */
            mcp_servers: components["schemas"]["MCPServerShown"][];
            /** @description The skills, each with its version. */
            skills: components["schemas"]["SkillParams"][];
            /** @description Who the agent acts as: always `service_account`. */
            execution_identity: {
                /** @constant */
                type: "service_account";
            } & {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        /** @description The agent has started a thread. */
        SessionThreadCreatedEvent: {
            id: string;
            /** @constant */
            type: "session.thread_created";
            /** @description The id of the thread. */
            session_thread_id: string;
            /** @description The name of the agent that runs the thread. */
            agent_name: string;
            /** @description Always null: there are no workflows. */
            workflow_run_id: null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The turn of a thread has ended. */
        SessionThreadStatusIdleEvent: {
            id: string;
            /** @constant */
            type: "session.thread_status_idle";
            /** @description The id of the thread. */
            session_thread_id: string;
            /** @description The name of the agent that runs the thread. */
            agent_name: string;
            stop_reason: components["schemas"]["StopReason"];
            /** @description Always null. */
            stop_details: null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The model of a thread will be asked again. */
        SessionThreadStatusRescheduledEvent: {
            id: string;
            /** @constant */
            type: "session.thread_status_rescheduled";
            /** @description The id of the thread. */
            session_thread_id: string;
            /** @description The name of the agent that runs the thread. */
            agent_name: string;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description A thread works. */
        SessionThreadStatusRunningEvent: {
            id: string;
            /** @constant */
            type: "session.thread_status_running";
            /** @description The id of the thread. */
            session_thread_id: string;
            /** @description The name of the agent that runs the thread. */
            agent_name: string;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description A thread has ended for good. */
        SessionThreadStatusTerminatedEvent: {
            id: string;
            /** @constant */
            type: "session.thread_status_terminated";
            /** @description The id of the thread. */
            session_thread_id: string;
            /** @description The name of the agent that runs the thread. */
            agent_name: string;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "title": "Review of the lexer"
         *     }
         */
        SessionUpdateParams: {
            /** @description What people call the session. */
            title?: string | null;
            metadata?: components["schemas"]["MetadataPatch"] | null;
            /** @description Replaces tools or MCP servers of this session, as wholes. */
            agent?: {
                /** @description Null or empty: no tools. */
                tools?: (components["schemas"]["AgentToolset20260401Params"] | components["schemas"]["MCPToolset"] | components["schemas"]["CustomTool"])[] | null;
                /** @description Null or empty: no MCP servers. */
                mcp_servers?: components["schemas"]["MCPServer"][] | null;
            } | null;
            /** @description Refused: the vaults of a session are fixed at its creation. */
            vault_ids?: unknown;
            /** @description Another budget, above what the session has cost. Null removes it for good. */
            budget?: components["schemas"]["SessionBudget"] | null;
        };
        /** @description Title, metadata or agent of the session have changed. */
        SessionUpdatedEvent: {
            id: string;
            /** @constant */
            type: "session.updated";
            title?: string | null;
            metadata?: {
                [key: string]: string;
            };
            /** @description The whole agent that the session runs from now on. */
            agent?: {
                [key: string]: unknown;
            };
            budget?: components["schemas"]["SessionBudget"] | null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description Totals of the session so far. */
        SessionUsage: {
            /** @description Tokens that models read, cached ones excepted. */
            input_tokens: number;
            /** @description Tokens that models wrote. */
            output_tokens: number;
            /** @description Tokens that were read from a cache. */
            cache_read_input_tokens: number;
            /** @description Tokens that were written to a cache. */
            cache_creation: {
                /** @description Tokens that were written to a cache for five minutes. */
                ephemeral_5m_input_tokens: number;
                /** @description Tokens that were written to a cache for an hour. */
                ephemeral_1h_input_tokens: number;
            };
            /** @description Seconds in which the session ran. */
            active_seconds: number;
            /** @description US cents, rounded half up. Null where a model that was used has no price. */
            list_cost: {
                /** @description US cents, as text. */
                amount: string;
                /** @constant */
                currency: "USD";
            } | null;
            /** @description Requests of the web tools. */
            server_tool_use: {
                /** @description Searches that the search engine has answered. */
                web_search_requests: number;
                /** @description Always 0. */
                web_fetch_requests: number;
            };
        } & {
            [key: string]: unknown;
        };
        /** @description Totals of the session, directly before `session.status_idle`. */
        SessionUsageEvent: {
            id: string;
            /** @constant */
            type: "session.usage";
            /** @description As `usage` of the session. */
            usage: {
                [key: string]: unknown;
            };
            budget: components["schemas"]["SessionBudget"] | null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description What the session waits for now. */
        SessionWaitingChangedEvent: {
            /** @constant */
            type: "session.waiting_changed";
            waiting_on: components["schemas"]["WaitingOn"];
            session_id: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The service has something to report that ends no turn. */
        SessionWarningEvent: {
            id: string;
            /** @constant */
            type: "session.warning";
            /** @description A word for programs, such as `turn_recovered`. */
            reason: string;
            message: string;
            /** @description The events that it is about. */
            event_ids?: string[];
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description A browser in which a person is signed in. */
        SignIn: {
            id: string;
            /** @constant */
            type: "sign_in";
            /** @description Whether it is the one of this request. */
            current: boolean;
            /** @description The address from which the person signed in, or null. */
            ip_address: string | null;
            user_agent: string | null;
            /** @description When the sign-in ends by itself. */
            expires_at: components["schemas"]["Timestamp"];
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
        };
        /** @description Where a person is signed in. */
        SignInList: {
            data: components["schemas"]["SignIn"][];
        };
        /** @description Instructions and programs that an agent loads when it needs them. */
        Skill: {
            id: string;
            /** @constant */
            type: "skill";
            /** @description What people call the skill. */
            display_title: string;
            /** @description Another name of `display_title`. */
            display_name: string;
            name: string;
            description: string;
            /** @description Digits of its time in microseconds; null once all versions are deleted. */
            latest_version: string | null;
            /** @description The id of that version, or null. */
            latest_version_id: string | null;
            /** @description `anthropic`: built in. `custom`: uploaded. */
            source: ("anthropic" | "custom") | {
                /** @enum {string} */
                type: "anthropic" | "custom";
            };
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
        };
        /**
         * @example {
         *       "display_title": "Greeting",
         *       "files[]": [
         *         "---\nname: greeting\ndescription: Greets people\n---\nSay hello.\n"
         *       ]
         *     }
         */
        SkillCreateParams: {
            /** @description An id of your own. */
            id?: string | null;
            /** @description What people call the skill. */
            display_title?: string | null;
            /** @description Another name of `display_title`. */
            display_name?: string | null;
            /** @description In place of the one in SKILL.md. */
            description?: string | null;
            /** @description The files, with their paths below one folder; SKILL.md among them. */
            "files[]": string[];
        };
        /** @description A skill that the agent has. */
        SkillParams: {
            /**
             * @description `anthropic`: built in. `custom`: uploaded.
             * @enum {string}
             */
            type: "anthropic" | "custom";
            skill_id: string;
            /** @description `latest` when absent. */
            version?: string | null;
        };
        /**
         * @example {
         *       "display_title": "Farewell",
         *       "files": [
         *         {
         *           "filename": "SKILL.md",
         *           "content": "---\nname: farewell\ndescription: Says goodbye\n---\nSay goodbye.\n"
         *         }
         *       ]
         *     }
         */
        SkillTextsCreateParams: {
            /** @description An id of your own. */
            id?: string | null;
            /** @description What people call the skill. */
            display_title?: string | null;
            /** @description Another name of `display_title`. */
            display_name?: string | null;
            /** @description In place of the one in SKILL.md. */
            description?: string | null;
            /** @description The files of the skill, SKILL.md among them. */
            files: {
                /** @description The path of the file below the folder of the skill. */
                filename: string;
                /** @description The text of the file. */
                content: string;
            }[];
        };
        /** @description One version of a skill; it does not change. */
        SkillVersion: {
            id: string;
            /** @constant */
            type: "skill_version";
            skill_id: string;
            /** @description Digits of its time in microseconds. */
            version: string;
            name: string;
            description: string;
            /** @description The folder that was uploaded. */
            directory: string;
            /** @description The files below the folder. */
            files: {
                filename: string;
            }[];
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
        };
        /**
         * @example {
         *       "files[]": [
         *         "---\nname: greeting\ndescription: Greets people\n---\nSay hello.\n"
         *       ]
         *     }
         */
        SkillVersionCreateParams: {
            /** @description The files, with their paths below one folder; SKILL.md among them. */
            "files[]": string[];
        };
        /**
         * @example {
         *       "files": [
         *         {
         *           "filename": "SKILL.md",
         *           "content": "---\nname: greeting\ndescription: Greets people\n---\nSay hello.\n"
         *         }
         *       ]
         *     }
         */
        SkillVersionTextsCreateParams: {
            /** @description The files of the skill, SKILL.md among them. */
            files: {
                /** @description The path of the file below the folder of the skill. */
                filename: string;
                /** @description The text of the file. */
                content: string;
            }[];
        };
        /** @description The summary is written, or could not be written. */
        SpanCompactionSummarizeEndEvent: {
            id: string;
            /** @constant */
            type: "span.compaction_summarize_end";
            /** @description The id of the event with which the request began. */
            compaction_summarize_start_id: string;
            /** @description Whether the request has failed. */
            is_error: boolean;
            model_usage: components["schemas"]["SpanModelUsage"];
            /** @description Why there is no summary. */
            message?: string;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description A summary of the older conversation is being written. */
        SpanCompactionSummarizeStartEvent: {
            id: string;
            /** @constant */
            type: "span.compaction_summarize_start";
            /** @description How the summary is written: `compaction_strategy` of the agent. */
            strategy: string;
            /** @description `threshold`: the conversation is long. `overflow`: the model refused it as too long. */
            reason: string;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The first output of the model has arrived. */
        SpanModelFirstTokenEvent: {
            /** @constant */
            type: "span.model_first_token";
            /** @description The id of the event with which the request began. */
            model_request_start_id: string;
            /** @description Milliseconds since the request. */
            ms: number;
            session_id: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The model has answered, or the request has failed. */
        SpanModelRequestEndEvent: {
            id: string;
            /** @constant */
            type: "span.model_request_end";
            /** @description The id of the event with which the request began. */
            model_request_start_id: string;
            /** @description Whether the request has failed. */
            is_error: boolean;
            model_usage: components["schemas"]["SpanModelUsage"];
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The model is asked. */
        SpanModelRequestStartEvent: {
            id: string;
            /** @constant */
            type: "span.model_request_start";
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description Tokens of one request to the model. */
        SpanModelUsage: {
            /** @description Tokens that the model read, cached ones excepted. */
            input_tokens: number;
            /** @description Tokens that the model wrote. */
            output_tokens: number;
            /** @description Tokens that were written to a cache. */
            cache_creation_input_tokens: number;
            /** @description Tokens that were read from a cache. */
            cache_read_input_tokens: number;
        };
        /** @description The work is judged, or the outcome has ended without. */
        SpanOutcomeEvaluationEndEvent: {
            id: string;
            /** @constant */
            type: "span.outcome_evaluation_end";
            /** @description The id of the outcome. */
            outcome_id: string;
            /** @description Counts evaluations from 0. */
            iteration: number;
            /** @description Empty where the evaluation had not begun. */
            outcome_evaluation_start_id: string;
            /**
             * @description `needs_revision`: the agent works on. Any other result ends the outcome.
             * @enum {string}
             */
            result: "satisfied" | "max_iterations_reached" | "failed" | "interrupted" | "needs_revision";
            /** @description What the grader has found. */
            explanation: string;
            usage: components["schemas"]["SpanModelUsage"];
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The grader is still at work. */
        SpanOutcomeEvaluationOngoingEvent: {
            id: string;
            /** @constant */
            type: "span.outcome_evaluation_ongoing";
            /** @description The id of the outcome. */
            outcome_id: string;
            /** @description Counts evaluations from 0. */
            iteration: number;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The grader judges the work. */
        SpanOutcomeEvaluationStartEvent: {
            id: string;
            /** @constant */
            type: "span.outcome_evaluation_start";
            /** @description The id of the outcome. */
            outcome_id: string;
            /** @description Counts evaluations from 0. */
            iteration: number;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The session will be woken at a time. */
        SpanWakeupScheduledEvent: {
            id: string;
            /** @constant */
            type: "span.wakeup_scheduled";
            /** @description The time. */
            wakeup_at: string;
            /** @description What the agent has written to itself. */
            note: string;
            /** @description On the stream of the session: the child thread that is woken. */
            session_thread_id?: string | null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description What a workspace may spend in each day or month. */
        SpendLimit: {
            id: string;
            /** @constant */
            type: "spend_limit";
            /** @description The workspace that the limit is for. */
            scope: {
                /** @constant */
                type: "workspace";
                workspace_id: string;
            };
            /** @description US cents, as text. Null: no limit. */
            amount: string | null;
            /** @constant */
            currency: "USD";
            /**
             * @description `daily` or `monthly`: from midnight, or from the first of the month, by UTC.
             * @enum {string}
             */
            period: "daily" | "monthly";
            /** @description Whether the limit holds. */
            is_enabled: boolean;
            /**
             * @description Who has set it: `operator` or `workspace`.
             * @enum {string}
             */
            set_by: "operator" | "workspace";
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
        };
        /**
         * @example {
         *       "period": "daily",
         *       "amount": "5000"
         *     }
         */
        SpendLimitCreateParams: {
            /** @description The caller's own workspace, also when absent. */
            scope?: {
                /** @constant */
                type: "workspace";
                workspace_id: string;
            };
            /**
             * @description `daily` or `monthly`: from midnight, or from the first of the month, by UTC.
             * @default monthly
             * @enum {string}
             */
            period: "daily" | "monthly";
            /** @description US cents, as text. Null: no limit. */
            amount: string | null;
            /**
             * @default USD
             * @constant
             */
            currency: "USD";
            /**
             * @description Whether the limit holds; true when absent.
             * @default true
             */
            is_enabled: boolean;
        };
        /**
         * @example {
         *       "amount": "8000"
         *     }
         */
        SpendLimitUpdateParams: {
            /** @description US cents, as text. Null: no limit. */
            amount?: string | null;
            /** @description Whether the limit holds. */
            is_enabled?: boolean;
        };
        /** @description The limit that holds for a period, and what was spent in it so far. */
        SpendSummary: {
            /** @description The limit that holds. */
            spend_limit_id: string;
            /** @description Stands for all keys and people of the workspace; its id is that of the workspace. */
            actor: {
                /** @constant */
                type: "scoped_api_key_actor";
                /** @description The id of the workspace. */
                scoped_api_key_id: string;
            };
            /** @description The workspace that the limit is for. */
            scope: {
                /** @constant */
                type: "workspace";
                workspace_id: string;
            };
            /** @description The workspace that the limit is for. */
            source: {
                /** @constant */
                type: "workspace";
                workspace_id: string;
            };
            /**
             * @description Who has set it: `operator` or `workspace`.
             * @enum {string}
             */
            set_by: "operator" | "workspace";
            /** @description US cents, as text. Null: no limit. */
            amount: string | null;
            /** @constant */
            currency: "USD";
            /**
             * @description `daily` or `monthly`: from midnight, or from the first of the month, by UTC.
             * @enum {string}
             */
            period: "daily" | "monthly";
            /** @description US cents with up to four decimals, as text. */
            period_to_date_spend: string;
        };
        /** @description A fixed token for an MCP server. */
        StaticBearerCreateParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "static_bearer";
            /** @description The token, which no answer contains. */
            token: string | components["schemas"]["SecretReference"];
            /**
             * Format: uri
             * @description The address of the MCP server; it does not change.
             */
            mcp_server_url: string;
        };
        /** @description A new token. */
        StaticBearerUpdateParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "static_bearer";
            /** @description The new token; it stays when absent. */
            token?: (string | components["schemas"]["SecretReference"]) | null;
        };
        /** @description Why the turn has ended. */
        StopReason: components["schemas"]["StopReasonEndTurn"] | components["schemas"]["StopReasonRequiresAction"] | components["schemas"]["StopReasonRetriesExhausted"] | components["schemas"]["StopReasonBudgetReached"] | components["schemas"]["StopReasonRefusal"];
        /** @description Instructions were added in the middle of the conversation. */
        SystemMessageEvent: {
            id: string;
            /** @constant */
            type: "system.message";
            /** @description The instructions. */
            content: components["schemas"]["TextBlock"][];
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description Further instructions; it stands last, behind a message or a result. */
        SystemMessageEventParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "system.message";
            /** @description Texts that the model reads as instructions. */
            content: components["schemas"]["TextBlock"][];
        };
        /** @description A waiting message will never be taken up. */
        SystemUserMessageCancelledEvent: {
            id: string;
            /** @constant */
            type: "system.user_message_cancelled";
            /** @description The id of the message that waits. */
            message_id: string;
            /** @description What has cancelled it. */
            reason: string;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description A waiting message has another text now. */
        SystemUserMessageChangedEvent: {
            id: string;
            /** @constant */
            type: "system.user_message_changed";
            /** @description The id of the message that waits. */
            message_id: string;
            /** @description Its text now. */
            content: components["schemas"]["TextBlock"][];
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description A message waits. */
        SystemUserMessagePendingEvent: {
            /** @constant */
            type: "system.user_message_pending";
            /** @description The id of the message that waits. */
            message_id: string;
            session_id: string;
        } & {
            [key: string]: unknown;
        };
        /** @description A waiting message is taken up. */
        SystemUserMessagePromotedEvent: {
            /** @constant */
            type: "system.user_message_promoted";
            /** @description The id of the message that waits. */
            message_id: string;
            session_id: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The session will not be woken at that time. */
        SystemWakeupCancelledEvent: {
            id: string;
            /** @constant */
            type: "system.wakeup_cancelled";
            /** @description The event that has scheduled it. */
            wakeup_scheduled_id: string;
            /**
             * @description `replaced`: the agent has named another time. `failed`: the session has failed.
             * @enum {string}
             */
            reason: "interrupt" | "replaced" | "archive";
            /** @description On the stream of the session: the child thread that is woken. */
            session_thread_id?: string | null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description The time has come, and a turn begins. */
        SystemWakeupEvent: {
            id: string;
            /** @constant */
            type: "system.wakeup";
            /** @description The event that has scheduled it. */
            wakeup_scheduled_id: string;
            /** @description What the agent has written to itself. */
            note: string;
            /** @description On the stream of the session: the child thread that is woken. */
            session_thread_id?: string | null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description Text. */
        TextBlock: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "text";
            text: string;
        };
        /**
         * Format: date-time
         * @description A time as RFC 3339 writes it, with its offset: `2026-01-31T12:00:00Z`.
         */
        Timestamp: string;
        /** @description How the client authenticates itself. */
        TokenEndpointAuthParam: components["schemas"]["TokenEndpointAuthParamNone"] | components["schemas"]["TokenEndpointAuthParamClientSecretBasic"] | components["schemas"]["TokenEndpointAuthParamClientSecretPost"];
        /** @description About how many tokens a model would read. */
        TokenEstimate: {
            /** @constant */
            type: "token_estimate";
            /** @description Tokens of all parts. */
            tokens: number;
            /** @description Tokens of each part. */
            parts: {
                /** @description Tokens of the system prompt. */
                system: number;
                /** @description Tokens of the descriptions of the tools. */
                tools: number;
                /** @description Tokens of the text. */
                text: number;
            };
            /**
             * @description Always true: nobody has counted tokens.
             * @constant
             */
            is_estimate: true;
            /** @description How the tokens are estimated, in words. */
            method: string;
            /** @description MCP servers whose tools are not counted: only the server knows them. */
            not_counted: string[];
            /** @description Tokens of one request at most. Null where the model has no known window. */
            window_tokens: number | null;
        };
        /**
         * @description What to count: at least one of `system`, `tools` and `text`.
         * @example {
         *       "model": "offline",
         *       "system": "You review pull requests.",
         *       "text": "Look at #12."
         *     }
         */
        TokenEstimateParams: {
            /** @description The model that would read it, as an agent names it. */
            model: string | components["schemas"]["ModelConfigParams"];
            /** @description A system prompt. */
            system?: string | null;
            tools?: (components["schemas"]["AgentToolset20260401Params"] | components["schemas"]["MCPToolset"] | components["schemas"]["CustomTool"])[] | null;
            /** @description A message, or any other text. */
            text?: string | null;
        };
        /** @description For every tool of the set without an entry of its own. */
        ToolsetDefaultConfig: {
            /** @description Whether the agent has the tool. */
            enabled?: boolean | null;
            /** @description Whether a call runs at once or asks. When absent: that of `default_config`. */
            permission_policy?: components["schemas"]["PermissionPolicy"] | null;
        };
        /** @description A public address that the service fetches. */
        URLSource: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "url";
            /**
             * Format: uri
             * @description The address, which is fetched when the message is read.
             */
            url: string;
        };
        /** @description A public address that the service fetches. */
        URLSourceParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "url";
            /**
             * Format: uri
             * @description The address, which is fetched when the message is read.
             */
            url: string;
        };
        /** @description Every public host is reached. */
        UnrestrictedNetwork: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "unrestricted";
        };
        /** @description A client has answered the call of a custom tool. */
        UserCustomToolResultEvent: {
            id: string;
            /** @constant */
            type: "user.custom_tool_result";
            /** @description The id of the event that made the call. */
            custom_tool_use_id: string;
            /**
             * @description The service has closed the call; no client can answer it any more.
             * @constant
             */
            closed_by?: "service";
            /** @description What the model reads. */
            content?: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"] | components["schemas"]["DocumentBlock"] | components["schemas"]["SearchResultBlock"])[] | null;
            /** @description Whether the call has failed. */
            is_error?: boolean | null;
            /** @description On the stream of the session: the child thread that the event belongs to. */
            session_thread_id?: string | null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description Answers the call of a custom tool. */
        UserCustomToolResultEventParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "user.custom_tool_result";
            /** @description The id of the `agent.custom_tool_use` event. */
            custom_tool_use_id: string;
            /** @description What the model reads. */
            content?: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlockParams"] | components["schemas"]["DocumentBlockParams"] | components["schemas"]["SearchResultBlockParams"])[] | null;
            /** @description Whether the call has failed. */
            is_error?: boolean | null;
            /** @description The thread that is meant, as the event of the call names it. */
            session_thread_id?: string | null;
        };
        /** @description An outcome was defined. The work towards it begins. */
        UserDefineOutcomeEvent: {
            id: string;
            /** @constant */
            type: "user.define_outcome";
            /** @description The id of the outcome. */
            outcome_id: string;
            description: string;
            /** @description The text, also of a rubric that came from a file. */
            rubric: {
                /** @constant */
                type: "text";
                /** @description The criteria. */
                content: string;
            };
            /** @description Evaluations at most. */
            max_iterations: number;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description Begins work towards an outcome, which is judged against the rubric. */
        UserDefineOutcomeEventParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "user.define_outcome";
            /** @description What the agent works towards. */
            description: string;
            /** @description The criteria by which the work is judged. */
            rubric: {
                /** @constant */
                type: "text";
                /** @description The rubric as text, at most 262,144 characters. */
                content: string;
            } | {
                /** @constant */
                type: "file";
                /** @description A text file of the workspace. Its text is kept with the outcome. */
                file_id: string;
            };
            /** @description Evaluations at most; 3 when absent. */
            max_iterations?: number | null;
        };
        /** @description Somebody has stopped the turn. */
        UserInterruptEvent: {
            id: string;
            /** @constant */
            type: "user.interrupt";
            /** @description On the stream of the session: the child thread that the event belongs to. */
            session_thread_id?: string | null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description Stops the running turn. */
        UserInterruptEventParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "user.interrupt";
            /** @description The thread that is meant, as the event of the call names it. */
            session_thread_id?: string | null;
        };
        /** @description A message: it waits, and begins or joins the next turn. */
        UserMessage: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "user.message";
            /** @description Text, images and documents, in order. */
            content: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"] | components["schemas"]["DocumentBlock"])[];
        };
        /** @description A posted message is taken up; while it waits, `processed_at` is null. */
        UserMessageEvent: {
            id: string;
            /** @constant */
            type: "user.message";
            /** @description Text, images and documents, in order. */
            content: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"] | components["schemas"]["DocumentBlock"])[];
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description A message: it waits, and begins or joins the next turn. */
        UserMessageParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "user.message";
            /** @description Text, images and documents, in order. */
            content: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlockParams"] | components["schemas"]["DocumentBlockParams"])[];
        };
        /** @description Somebody has allowed or denied a call. */
        UserToolConfirmationEvent: {
            id: string;
            /** @constant */
            type: "user.tool_confirmation";
            /** @description The id of the event that made the call. */
            tool_use_id: string;
            /**
             * @description Whether the call runs.
             * @enum {string}
             */
            result: "allow" | "deny";
            /** @description What the model reads of a denied call. */
            deny_message?: string | null;
            /** @description On the stream of the session: the child thread that the event belongs to. */
            session_thread_id?: string | null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description Lets a call run, or denies it. */
        UserToolConfirmationEventParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "user.tool_confirmation";
            /** @description The id of the `agent.tool_use` or `agent.mcp_tool_use` event. */
            tool_use_id: string;
            /**
             * @description `allow`: the call runs. `deny`: it is closed with an error result.
             * @enum {string}
             */
            result: "allow" | "deny";
            /** @description The model reads it; only with `deny`. */
            deny_message?: string | null;
            /** @description The thread that is meant, as the event of the call names it. */
            session_thread_id?: string | null;
        };
        /** @description A worker has answered the call of a built-in tool. */
        UserToolResultEvent: {
            id: string;
            /** @constant */
            type: "user.tool_result";
            /** @description The id of the event that made the call. */
            tool_use_id: string;
            /** @description What the model reads. */
            content?: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"] | components["schemas"]["DocumentBlock"] | components["schemas"]["SearchResultBlock"])[] | null;
            /** @description Whether the call has failed. */
            is_error?: boolean | null;
            /** @description On the stream of the session: the child thread that the event belongs to. */
            session_thread_id?: string | null;
            /** @description The session of the event. */
            session_id: string;
            /**
             * Format: date-time
             * @description When the event was created.
             */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the session took it up; null until then. */
            processed_at: components["schemas"]["Timestamp"] | null;
            /** @description Place in the log, from 1 without a gap; null while the event has none. */
            seq: number | null;
            /** @description The fields of the type once more; absent with `anthropic-version`. */
            data?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description With `view=light`: the long parts of the event, which stand here cut. */
            cut?: components["schemas"]["EventCut"][];
            /** @description With `view=light`, in an event that ends a step: what the step took. */
            step?: components["schemas"]["EventStep"];
        } & {
            [key: string]: unknown;
        };
        /** @description Answers the call of a built-in tool, from the worker that ran it. */
        UserToolResultEventParams: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "user.tool_result";
            /** @description The id of the `agent.tool_use` event. */
            tool_use_id: string;
            /** @description What the model reads. */
            content?: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlockParams"] | components["schemas"]["DocumentBlockParams"] | components["schemas"]["SearchResultBlockParams"])[] | null;
            /** @description Whether the call has failed. */
            is_error?: boolean | null;
            /** @description The thread that is meant, as the event of the call names it. */
            session_thread_id?: string | null;
        };
        /** @description A place for credentials. */
        Vault: {
            id: string;
            /** @constant */
            type: "vault";
            /** @description What people call the vault. */
            display_name: string;
            /** @description Another name of `display_name`. */
            name: string;
            /** @description The workspace. */
            tenant_id: string;
            metadata: {
                [key: string]: string;
            };
            /** @description When it was archived, or null. */
            archived_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was changed last. */
            updated_at: components["schemas"]["Timestamp"];
        };
        /**
         * @example {
         *       "display_name": "Reviewer"
         *     }
         */
        VaultCreateParams: {
            /** @description What people call the vault. */
            display_name?: string;
            /** @description Another name of `display_name`. */
            name?: string;
            metadata?: components["schemas"]["Metadata"] | null;
            /** @description Its credentials. */
            credentials?: components["schemas"]["CredentialInVaultParams"][];
            /** @description One credential. */
            credential?: components["schemas"]["CredentialInVaultParams"];
            /** @description One credential without a name. */
            auth?: components["schemas"]["StaticBearerCreateParams"] | components["schemas"]["MCPOAuthCreateParams"] | components["schemas"]["CapCLICreateParams"] | components["schemas"]["CommandSecretCreateParams"] | components["schemas"]["EnvironmentVariableCreateParams"] | components["schemas"]["AgentIdentityCreateParams"];
        };
        /**
         * @example {
         *       "metadata": {
         *         "team": "data"
         *       }
         *     }
         */
        VaultUpdateParams: {
            /** @description What people call the vault. */
            display_name?: string | null;
            /** @description Another name of `display_name`. */
            name?: string | null;
            metadata?: components["schemas"]["MetadataPatch"] | null;
            /** @description Its credentials. */
            credentials?: components["schemas"]["CredentialInVaultParams"][];
            /** @description One credential. */
            credential?: components["schemas"]["CredentialInVaultParams"];
            /** @description One credential without a name. */
            auth?: components["schemas"]["StaticBearerCreateParams"] | components["schemas"]["MCPOAuthCreateParams"] | components["schemas"]["CapCLICreateParams"] | components["schemas"]["CommandSecretCreateParams"] | components["schemas"]["EnvironmentVariableCreateParams"] | components["schemas"]["AgentIdentityCreateParams"];
        };
        /** @description Filters of a list under a name. */
        View: {
            id: string;
            /** @constant */
            type: "view";
            /** @description What it is called. */
            name: string;
            /**
             * @description The list that it filters.
             * @enum {string}
             */
            noun: "sessions";
            /** @description The filters, as they were sent. */
            filters: string;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
        };
        /**
         * @example {
         *       "name": "Waiting for me",
         *       "noun": "sessions",
         *       "filters": "waiting_on=person"
         *     }
         */
        ViewCreateParams: {
            /** @description What it is called. One of this name is replaced. */
            name: string;
            /**
             * @description The list that it filters.
             * @enum {string}
             */
            noun: "sessions";
            /** @description The filters as one text, such as a query. The service does not read them. */
            filters: string;
        };
        /** @description A message that no turn has taken yet. */
        WaitingMessage: {
            /** @description The id of the `user.message` event that it becomes. */
            id: string;
            /** @constant */
            type: "waiting_message";
            /** @description As it was posted. Null for a message of megabytes. */
            content: unknown[] | null;
            /** @description The child thread that it waits for. */
            session_thread_id: string | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
        };
        /** @description What became of a waiting message. */
        WaitingMessageChange: {
            id: string;
            /** @constant */
            type: "waiting_message_change";
            /**
             * @description `already_read`: a turn has taken the message before; nothing was changed.
             * @enum {string}
             */
            state: "changed" | "removed" | "already_read";
        };
        /**
         * @example {
         *       "content": "Review the lexer."
         *     }
         */
        WaitingMessageUpdateParams: {
            /** @description A text, or blocks of text, in place of the whole. */
            content: string | (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlockParams"] | components["schemas"]["DocumentBlockParams"])[];
        };
        /** @description Why the session does not go on. Null: it runs or rests. */
        WaitingOn: {
            /**
             * @description Of several waits the one that a person can end comes first.
             * @enum {string}
             */
            type: "approval" | "question" | "budget" | "tool_result" | "queue" | "worker" | "rate_limit" | "model_backoff" | "packages" | "files" | "sandbox" | "mcp" | "wakeup";
            /**
             * @description Who can end it.
             * @enum {string}
             */
            who: "person" | "money" | "machine";
            /** @description The wait in words, to stand behind the name of the session. */
            text: string;
            since: components["schemas"]["Timestamp"];
            /** @description When it ends by itself, where that is known. */
            until?: components["schemas"]["Timestamp"];
            /** @description Waits with this owner, over all threads of the session. */
            count: number;
            /** @description What waits, and for what. */
            detail: {
                /** @description The call that waits. */
                event_id?: string;
                /** @description The tool of the call. */
                tool?: string;
                /** @description The child thread that waits. */
                session_thread_id?: string;
                /** @description The environment whose workers are missing. */
                environment_id?: string;
                /** @description The last error, shortened. */
                message?: string;
            };
        } | null;
        /** @description A workspace: what people and keys share. */
        Workspace: {
            id: string;
            /** @constant */
            type: "workspace";
            name: string;
            /** @description The same for all. */
            display_color: string;
            /** @description Always empty. */
            tags: {
                [key: string]: string;
            };
            archived_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            /** @description The same for all, because the official client expects it: it says nothing about where this service runs. */
            data_residency: {
                /** @constant */
                allowed_inference_geos: "unrestricted";
                /** @constant */
                default_inference_geo: "global";
                /** @constant */
                workspace_geo: "us";
            };
            /** @description The id of the workspace. */
            compartment_id: string;
            /** @description Always null. */
            external_key_id: null;
            /** @description Always null. */
            user_profile_id: null;
        };
        /**
         * @example {
         *       "workspace_id": "wrkspc_018f3c2a7b1d7003a1b2c3d4e5f60718"
         *     }
         */
        WorkspaceChoiceParams: {
            /** @description A workspace that you are a member of. */
            workspace_id: string;
        };
        /** @description The limit of a workspace for one class. */
        WorkspaceRateLimit: {
            /** @description The id of the limit, for a change. */
            rate_limit_id: string;
            /** @constant */
            type: "workspace_rate_limit";
            workspace_id: string;
            /** @description The class of requests that it counts. */
            group: {
                id: string;
                /** @enum {string} */
                type: "reads" | "writes" | "sessions" | "uploads" | "messages";
            };
            /** @description Always null: no limit is of a model. */
            models: null;
            /** @description The limit, in the unit that the operator has set. */
            limits: {
                /**
                 * @description `requests_per_minute`, or the unit that the operator has set.
                 * @enum {string}
                 */
                type: "requests_per_second" | "requests_per_minute" | "requests_per_hour" | "requests_per_day";
                /** @description The limit that the workspace has set, or else the one it has. */
                value: number;
                /** @description The most that the operator allows the workspace. */
                org_limit: number;
                /** @description Who has set the value. */
                source: {
                    /** @enum {string} */
                    type: "workspace" | "organization";
                };
            }[];
        };
        /**
         * @example {
         *       "limits": [
         *         {
         *           "type": "requests_per_minute",
         *           "value": 300
         *         }
         *       ]
         *     }
         */
        WorkspaceRateLimitUpdateParams: {
            /** @description One limit, in its own unit. */
            limits: {
                /**
                 * @description `requests_per_minute`, or the unit that the operator has set.
                 * @enum {string}
                 */
                type: "requests_per_second" | "requests_per_minute" | "requests_per_hour" | "requests_per_day";
                /** @description Null: the limit that the operator allows. */
                value: number | null;
            }[];
        };
        /**
         * @example {
         *       "name": "the first team"
         *     }
         */
        WorkspaceUpdateParams: {
            /** @description The name; left out, it stays. */
            name?: string;
        };
        /** @description A page of a list; its items are `Agent`. */
        AgentList: {
            data: components["schemas"]["Agent"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `AgentVersionSummary`. */
        AgentVersionSummaryList: {
            data: components["schemas"]["AgentVersionSummary"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `Environment`. */
        EnvironmentList: {
            data: components["schemas"]["Environment"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `Session`. */
        SessionList: {
            data: components["schemas"]["Session"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `SessionSummary`. */
        SessionSummaryList: {
            data: components["schemas"]["SessionSummary"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `Allowance`. */
        AllowanceList: {
            data: components["schemas"]["Allowance"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `ChangedTurn`. */
        ChangedTurnList: {
            data: components["schemas"]["ChangedTurn"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `SessionEvent`. */
        SessionEventList: {
            data: components["schemas"]["SessionEvent"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `FoundEvent`. */
        FoundEventList: {
            data: components["schemas"]["FoundEvent"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `WaitingMessage`. */
        WaitingMessageList: {
            data: components["schemas"]["WaitingMessage"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `FileMetadata`. */
        FileMetadataList: {
            data: components["schemas"]["FileMetadata"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `ModelInfo`. */
        ModelInfoList: {
            data: components["schemas"]["ModelInfo"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `ModelCard`. */
        ModelCardList: {
            data: components["schemas"]["ModelCard"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `ApiKey`. */
        ApiKeyList: {
            data: components["schemas"]["ApiKey"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `Invitation`. */
        InvitationList: {
            data: components["schemas"]["Invitation"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `View`. */
        ViewList: {
            data: components["schemas"]["View"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `Vault`. */
        VaultList: {
            data: components["schemas"]["Vault"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `Credential`. */
        CredentialList: {
            data: components["schemas"]["Credential"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `CredentialUse`. */
        CredentialUseList: {
            data: components["schemas"]["CredentialUse"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `CredentialChange`. */
        CredentialChangeList: {
            data: components["schemas"]["CredentialChange"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `WorkspaceRateLimit`. */
        WorkspaceRateLimitList: {
            data: components["schemas"]["WorkspaceRateLimit"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `Quota`. */
        QuotaList: {
            data: components["schemas"]["Quota"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `SpendLimit`. */
        SpendLimitList: {
            data: components["schemas"]["SpendLimit"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `Hold`. */
        HoldList: {
            data: components["schemas"]["Hold"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `MemoryStore`. */
        MemoryStoreList: {
            data: components["schemas"]["MemoryStore"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `MemoryVersion`. */
        MemoryVersionList: {
            data: components["schemas"]["MemoryVersion"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `Skill`. */
        SkillList: {
            data: components["schemas"]["Skill"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `SkillVersion`. */
        SkillVersionList: {
            data: components["schemas"]["SkillVersion"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `SelfHostedWork`. */
        SelfHostedWorkList: {
            data: components["schemas"]["SelfHostedWork"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description A page of a list; its items are `Deployment`. */
        DeploymentList: {
            data: components["schemas"]["Deployment"][];
            /** @description Whether there is a next page. */
            has_more: boolean;
            /** @description Send it as `page` for the next page. */
            next_page: string | null;
            /** @description Send it as `page` for the page before. */
            prev_page: string | null;
            first_id: string | null;
            last_id: string | null;
        };
        /** @description `Actor` of type `api_actor`. */
        ActorApiActor: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "api_actor";
            /** @description The id of the key. */
            api_key_id: string;
        };
        /** @description `Actor` of type `user_actor`. */
        ActorUserActor: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "user_actor";
            /** @description The id of the person. */
            user_id: string;
        };
        /** @description `Actor` of type `session_actor`. */
        ActorSessionActor: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "session_actor";
            /** @description The id of the session. */
            session_id: string;
        };
        /** @description `CredentialAuth` of type `static_bearer`. */
        CredentialAuthStaticBearer: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "static_bearer";
            /** @description The address of the MCP server. */
            mcp_server_url: string;
            /** @description The place of the secret in a secret manager; absent where the service keeps it. */
            token?: components["schemas"]["SecretReference"];
        } & {
            [key: string]: unknown;
        };
        /** @description `CredentialAuth` of type `mcp_oauth`. */
        CredentialAuthMcpOauth: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "mcp_oauth";
            /** @description The address of the MCP server. */
            mcp_server_url: string;
            /** @description When the access token ends, or null. */
            expires_at: string | null;
            /** @description How the access token is renewed. Null: it is not. */
            refresh: ({
                /** @description The id of the client at the authorization server. */
                client_id: string | null;
                /** @description Where a new access token is asked for. */
                token_endpoint: string;
                /** @description How the client authenticates itself, without its secret. */
                token_endpoint_auth: {
                    type: string;
                    /** @description The place of the secret in a secret manager; absent where the service keeps it. */
                    client_secret?: components["schemas"]["SecretReference"];
                } & {
                    [key: string]: unknown;
                };
                /** @description The resource that the token is for, or null. */
                resource: string | null;
                /** @description The scopes that are asked for, or null. */
                scope: string | null;
            } & {
                [key: string]: unknown;
            }) | null;
        } & {
            [key: string]: unknown;
        };
        /** @description `CredentialAuth` of type `cap_cli`. */
        CredentialAuthCapCli: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "cap_cli";
            /** @description The program that the token is for. */
            cli_id: string;
            /** @description The place of the secret in a secret manager; absent where the service keeps it. */
            token?: components["schemas"]["SecretReference"];
        } & {
            [key: string]: unknown;
        };
        /** @description `CredentialAuth` of type `command_secret`. */
        CredentialAuthCommandSecret: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "command_secret";
            /** @description The variable that the command reads. */
            env_var: string;
            /** @description Only commands that begin with one of these words. */
            command_prefixes: string[];
            /** @description The place of the secret in a secret manager; absent where the service keeps it. */
            token?: components["schemas"]["SecretReference"];
        } & {
            [key: string]: unknown;
        };
        /** @description `CredentialAuth` of type `environment_variable`. */
        CredentialAuthEnvironmentVariable: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "environment_variable";
            /** @description The variable; the sandbox sees a placeholder in it. */
            secret_name: string;
            networking: components["schemas"]["CredentialNetworking"];
            /** @description Where in a request the placeholder is replaced. */
            injection_location: {
                /** @description Whether it is replaced in headers. */
                header: boolean;
                /** @description Whether it is replaced in bodies. */
                body: boolean;
            };
            /** @description The place of the secret in a secret manager; absent where the service keeps it. */
            secret_value?: components["schemas"]["SecretReference"];
        } & {
            [key: string]: unknown;
        };
        /** @description `CredentialAuth` of type `agent_identity`. */
        CredentialAuthAgentIdentity: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "agent_identity";
            /** @description `aud` of the token. */
            audience: string;
            /** @description The MCP server that gets the token, or null. */
            mcp_server_url: string | null;
            /** @description Hosts that get the token over https. */
            allowed_hosts: string[];
            /** @description Seconds for which a token is valid. */
            ttl_seconds: number;
            /** @description Further texts of the token. */
            claims: {
                [key: string]: string;
            };
        } & {
            [key: string]: unknown;
        };
        /** @description `CredentialNetworking` of type `unrestricted`. */
        CredentialNetworkingUnrestricted: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "unrestricted";
        };
        /** @description `CredentialNetworking` of type `limited`. */
        CredentialNetworkingLimited: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "limited";
            /** @description Hostnames, IPv4 addresses or `*.suffix`; at most 16. */
            allowed_hosts: string[];
        };
        /** @description The agent has finished. */
        StopReasonEndTurn: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "end_turn";
        };
        /** @description The named calls wait for an answer or a confirmation. */
        StopReasonRequiresAction: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "requires_action";
            /** @description The ids of the calls that wait. */
            event_ids: string[];
        };
        /** @description The model could not be reached. */
        StopReasonRetriesExhausted: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "retries_exhausted";
        };
        /** @description The session has spent its budget. */
        StopReasonBudgetReached: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "budget_reached";
        };
        /** @description The model declined. */
        StopReasonRefusal: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "refusal";
        };
        /** @description `TokenEndpointAuthParam` of type `none`. */
        TokenEndpointAuthParamNone: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "none";
        };
        /** @description `TokenEndpointAuthParam` of type `client_secret_basic`. */
        TokenEndpointAuthParamClientSecretBasic: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "client_secret_basic";
            /** @description The secret of the client. */
            client_secret: string | components["schemas"]["SecretReference"];
        };
        /** @description `TokenEndpointAuthParam` of type `client_secret_post`. */
        TokenEndpointAuthParamClientSecretPost: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "client_secret_post";
            /** @description The secret of the client. */
            client_secret: string | components["schemas"]["SecretReference"];
        };
    };
    responses: {
        /**
         * @description An error. `error.type` follows from the status:
         *
         *     | status | `error.type` | with `anthropic-version` |
         *     |---|---|---|
         *     | 400 | `invalid_request` | `invalid_request_error` |
         *     | 401 | `unauthorized` | `authentication_error` |
         *     | 403 | `forbidden` | `permission_error` |
         *     | 404 | `not_found` | `not_found_error` |
         *     | 405 | `invalid_request` | `invalid_request_error` |
         *     | 409 | `invalid_request` | `conflict_error` |
         *     | 412 | `invalid_request` | `invalid_request_error` |
         *     | 413 | `invalid_request` | `invalid_request_error` |
         *     | 416 | `invalid_request` | `invalid_request_error` |
         *     | 429 | `rate_limited` | `rate_limit_error` |
         *     | 500 | `internal_error` | `api_error` |
         *     | 502 | `internal_error` | `api_error` |
         *     | 503 | `internal_error` | `overloaded_error` |
         *     | 507 | `internal_error` | `api_error` |
         */
        Error: {
            headers: {
                /** @description Names the request in the log of the server. */
                "request-id"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
    };
    parameters: {
        /** @description `next_page` or `prev_page` of the page before. */
        Page: string;
        /** @description Another name of `page`. */
        Cursor: string;
        /** @description The id of the session. */
        SessionId: string;
        /** @description Items of one page at most. */
        Limit: number;
        /** @description The id of the environment. */
        EnvironmentId: string;
        /** @description The id of the vault. */
        VaultId: string;
        /** @description Created after this time. */
        CreatedAtGt: components["schemas"]["Timestamp"];
        /** @description Created at this time or after it. */
        CreatedAtGte: components["schemas"]["Timestamp"];
        /** @description Created before this time. */
        CreatedAtLt: components["schemas"]["Timestamp"];
        /** @description Created at this time or before it. */
        CreatedAtLte: components["schemas"]["Timestamp"];
        /** @description The id of the memory store. */
        MemoryStoreId: string;
        /** @description The id of the workspace. */
        WorkspaceId: string;
        /** @description Whether archived ones are listed too. */
        IncludeArchived: "0" | "1" | "true" | "false" | "";
        /** @description The id of the agent. */
        AgentId: string;
        /** @description The id of the skill. */
        SkillId: string;
        /** @description The id of the model card. */
        ModelCardId: string;
        /** @description The last item of the page before. */
        AfterId: string;
        /** @description The first item of the page after; not together with `after_id`. */
        BeforeId: string;
        /** @description The id of the credential. */
        CredentialId: string;
        /** @description Whether keys that the person has made are revoked; `false` when absent. */
        RevokeKeys: "true" | "false";
        /** @description `chunks`: extension events as well. */
        Include: string | string[];
        /** @description `full` includes the content. */
        View: "basic" | "full";
        /** @description The number or the id of the version, or `latest`. */
        Version: string;
        /** @description A stream begins with everything that was kept, and then goes on live. */
        Replay: "0" | "1" | "true" | "false" | "";
        /** @description The path of the file, percent-encoded as one segment. */
        Filename: string;
        /** @description The id of the file. */
        FileId: string;
        /** @description The id of the API key. */
        APIKeyId: string;
        /** @description The id of the spend limit. */
        SpendLimitId: string;
        /** @description The id of the memory. */
        MemoryId: string;
        /** @description Only sessions in one of these states. */
        Status: ("pending" | "running" | "idle" | "done" | "failed" | "rescheduling" | "terminated") | ("pending" | "running" | "idle" | "done" | "failed" | "rescheduling" | "terminated")[];
        /** @description Only sessions in one of these states. */
        Statuses: ("pending" | "running" | "idle" | "done" | "failed" | "rescheduling" | "terminated") | ("pending" | "running" | "idle" | "done" | "failed" | "rescheduling" | "terminated")[];
        /** @description Below `/workspace`: `src/a.ts` and `/workspace/src/a.ts` are one place. */
        Path: string;
        /** @description By their place in the log. */
        Order: "asc" | "desc";
        /** @description The id of the message. */
        MessageId: string;
        /** @description The id of the member. */
        MemberId: string;
        /** @description Only the limits of this class of requests. */
        GroupType: string;
        /** @description Only limits of these periods. */
        Period: ("daily" | "monthly") | ("daily" | "monthly")[];
        /** @description The id of the version of a memory. */
        VersionOfAMemoryId: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getV1Agents: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Created after this time. */
                "created_at[gt]"?: components["parameters"]["CreatedAtGt"];
                /** @description Created at this time or after it. */
                "created_at[gte]"?: components["parameters"]["CreatedAtGte"];
                /** @description Created before this time. */
                "created_at[lt]"?: components["parameters"]["CreatedAtLt"];
                /** @description Created at this time or before it. */
                "created_at[lte]"?: components["parameters"]["CreatedAtLte"];
                /** @description `true` lists archived agents alone, `false` the others alone. */
                archived?: "0" | "1" | "true" | "false" | "";
                /** @description Whether archived ones are listed too. */
                include_archived?: components["parameters"]["IncludeArchived"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1Agents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1AgentsId: {
        parameters: {
            query?: {
                /** @description This version; the newest when absent. */
                version?: number;
            };
            header?: never;
            path: {
                /** @description The id of the agent. */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    putV1AgentsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the agent. */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1AgentsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the agent. */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1AgentsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the agent. */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    patchV1AgentsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the agent. */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1AgentsIdArchive: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the agent. */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1AgentsIdVersions: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description The id of the agent. */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1Deployments: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Created at this time or after it. */
                "created_at[gte]"?: components["parameters"]["CreatedAtGte"];
                /** @description Created at this time or before it. */
                "created_at[lte]"?: components["parameters"]["CreatedAtLte"];
                /** @description Only deployments of this agent. */
                agent_id?: string;
                /** @description Only deployments in this state; not together with `include_archived`. */
                status?: "active" | "paused";
                /** @description Whether archived ones are listed too. */
                include_archived?: components["parameters"]["IncludeArchived"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1Deployments: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeploymentCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deployment"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1Environments: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Whether archived ones are listed too. */
                include_archived?: components["parameters"]["IncludeArchived"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnvironmentList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1Environments: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnvironmentCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Environment"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1EnvironmentsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Environment"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1EnvironmentsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnvironmentUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Environment"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1EnvironmentsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "environment_deleted";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    patchV1EnvironmentsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnvironmentUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Environment"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1EnvironmentsIdArchive: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Environment"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1EnvironmentsIdWork: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description The id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SelfHostedWorkList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1EnvironmentsIdWorkStats: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SelfHostedWorkQueueStats"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtAgentsIdVersions: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description The id of the agent. */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentVersionSummaryList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtApiKeys: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Only keys of this environment. */
                environment_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtApiKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyWithValue"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1ExtApiKeysId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the API key. */
                id: components["parameters"]["APIKeyId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "api_key_deleted";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtAuditCredentialChanges: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Created after this time. */
                "created_at[gt]"?: components["parameters"]["CreatedAtGt"];
                /** @description Created at this time or after it. */
                "created_at[gte]"?: components["parameters"]["CreatedAtGte"];
                /** @description Created before this time. */
                "created_at[lt]"?: components["parameters"]["CreatedAtLt"];
                /** @description Created at this time or before it. */
                "created_at[lte]"?: components["parameters"]["CreatedAtLte"];
                /** @description Only entries of this session. */
                session_id?: string;
                /** @description Only entries of this vault. */
                vault_id?: string;
                /** @description Only entries of this credential. */
                credential_id?: string;
                /** @description Only entries of this model card. */
                model_card_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialChangeList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtAuditCredentialUses: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Created after this time. */
                "created_at[gt]"?: components["parameters"]["CreatedAtGt"];
                /** @description Created at this time or after it. */
                "created_at[gte]"?: components["parameters"]["CreatedAtGte"];
                /** @description Created before this time. */
                "created_at[lt]"?: components["parameters"]["CreatedAtLt"];
                /** @description Created at this time or before it. */
                "created_at[lte]"?: components["parameters"]["CreatedAtLte"];
                /** @description Only entries of this session. */
                session_id?: string;
                /** @description Only entries of this vault. */
                vault_id?: string;
                /** @description Only entries of this credential. */
                credential_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialUseList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtAuthLeave: {
        parameters: {
            query?: {
                /** @description Whether keys that the person has made are revoked; `false` when absent. */
                revoke_keys?: components["parameters"]["RevokeKeys"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberRemoved"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtAuthPassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChangeParams"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtAuthSignIns: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1ExtAuthSignInsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the sign-in. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "sign_in_ended";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtAuthSignOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtAuthWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkspaceChoiceParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtHolds: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Released holds too. */
                include_released?: "0" | "1" | "true" | "false" | "";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HoldList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtHolds: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HoldCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hold"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtInvitations: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtInvitations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationWithLink"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1ExtInvitationsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the invitation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "invitation_deleted";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtMcpProbes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MCPProbeParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MCPProbe"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1ExtMe: {
        parameters: {
            query: {
                /** @description Whether keys that the person has made are revoked; `false` when absent. */
                revoke_keys?: components["parameters"]["RevokeKeys"];
                /** @description Your email address, so that no account is deleted by mistake. */
                confirm: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PersonDeleted"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtMeLooked: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Looked"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtMembers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtMembersId: {
        parameters: {
            query?: {
                /** @description Whether keys that the person has made are revoked; `false` when absent. */
                revoke_keys?: components["parameters"]["RevokeKeys"];
            };
            header?: never;
            path: {
                /** @description The id of the member. */
                id: components["parameters"]["MemberId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberUpdated"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1ExtMembersId: {
        parameters: {
            query?: {
                /** @description Whether keys that the person has made are revoked; `false` when absent. */
                revoke_keys?: components["parameters"]["RevokeKeys"];
            };
            header?: never;
            path: {
                /** @description The id of the member. */
                id: components["parameters"]["MemberId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberRemoved"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtModelCards: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelCardList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtModelCards: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelCardCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelCard"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtModelCardsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the model card. */
                id: components["parameters"]["ModelCardId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelCard"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtModelCardsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the model card. */
                id: components["parameters"]["ModelCardId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelCardUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelCard"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1ExtModelCardsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the model card. */
                id: components["parameters"]["ModelCardId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "model_card_deleted";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    patchV1ExtModelCardsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the model card. */
                id: components["parameters"]["ModelCardId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelCardUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelCard"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtModelCardsIdProbe: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the model card. */
                id: components["parameters"]["ModelCardId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelCardProbe"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtModelsList: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelCatalogParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelCatalog"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtOverview: {
        parameters: {
            query?: {
                /** @description Counts turns that failed since then, 14 days at most. When absent, since the person has last looked, or a day. */
                since?: components["schemas"]["Timestamp"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtQuotas: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuotaList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtQuotasName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of the quota, as the list has it. */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QuotaUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Quota"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtRetention: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Retention"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtRetention: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetentionUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Retention"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtRules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Rules"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtRules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RulesUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Rules"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtSessions: {
        parameters: {
            query?: {
                /** @description Sessions of one page at most. */
                limit?: number;
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Created after this time. */
                "created_at[gt]"?: components["parameters"]["CreatedAtGt"];
                /** @description Created at this time or after it. */
                "created_at[gte]"?: components["parameters"]["CreatedAtGte"];
                /** @description Created before this time. */
                "created_at[lt]"?: components["parameters"]["CreatedAtLt"];
                /** @description Created at this time or before it. */
                "created_at[lte]"?: components["parameters"]["CreatedAtLte"];
                /** @description What the list is ordered by. */
                sort?: "created" | "active" | "cost" | "tokens" | "ran";
                /** @description The greatest first, unless `asc`. */
                order?: "asc" | "desc";
                /** @description Only sessions in one of these states. */
                status?: ("pending" | "running" | "idle" | "done" | "failed") | ("pending" | "running" | "idle" | "done" | "failed")[];
                /** @description Only sessions that wait so, as in the list of sessions. */
                waiting_on?: ("any" | "person" | "money" | "machine" | "approval" | "question" | "budget" | "tool_result" | "queue" | "worker" | "rate_limit" | "model_backoff" | "packages" | "files" | "sandbox" | "mcp" | "wakeup") | ("any" | "person" | "money" | "machine" | "approval" | "question" | "budget" | "tool_result" | "queue" | "worker" | "rate_limit" | "model_backoff" | "packages" | "files" | "sandbox" | "mcp" | "wakeup")[];
                /** @description Only sessions of this agent. */
                agent_id?: string;
                /** @description Only sessions that pinned this version; with `agent_id`. */
                agent_version?: number;
                /** @description Only sessions in this environment. */
                environment_id?: string;
                /** @description Only sessions that this deployment has created. */
                deployment_id?: string;
                /** @description Only sessions that this key, person or thing has made. */
                created_by?: string;
                /** @description Only forks of this session. */
                forked_from?: string;
                /** @description Only sessions that cost this or more, in US cents. */
                min_cost?: string;
                /** @description Only sessions that cost this or less, in US cents. */
                max_cost?: string;
                /** @description Only sessions whose title, or first message, has all of these words. */
                text?: string;
                /** @description Only sessions whose last turn ended with an error. */
                failed?: "0" | "1" | "true" | "false" | "";
                /** @description Whether archived ones are listed too. */
                include_archived?: components["parameters"]["IncludeArchived"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionSummaryList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtSessionsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionSummaryWithContext"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtSessionsIdAllowances: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AllowanceList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtSessionsIdAllowances: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AllowanceCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Allowance"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1ExtSessionsIdAllowancesTool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
                /** @description The id of the tool. */
                tool: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtSessionsIdChanges: {
        parameters: {
            query?: {
                /** @description The `seq` of an event, or `start`: as the session began. */
                from?: "start" | number;
                /** @description The `seq` of an event, or `now`. */
                to?: "now" | number;
                /** @description Only what lies there or below it. */
                path?: string;
            };
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FolderChanges"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtSessionsIdChangesTurns: {
        parameters: {
            query?: {
                /** @description Turns of one page at most. */
                limit?: number;
                /** @description `next_page` of the page before. */
                page?: string;
            };
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedTurnList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtSessionsIdFind: {
        parameters: {
            query?: {
                /** @description Events of one page at most. */
                limit?: number;
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description By their place in the log. */
                order?: "asc" | "desc";
                /** @description A text in any case of letters; white space in it stands for any white space. */
                q?: string;
                /** @description Only what has failed: results, requests and session errors. */
                errors?: "0" | "1" | "true" | "false" | "";
                /** @description Only calls of this tool, and results. */
                tool?: string;
                /** @description Only events of this thread. */
                thread?: string;
            };
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundEventList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtSessionsIdFolder: {
        parameters: {
            query?: {
                /** @description Below `/workspace`: `src/a.ts` and `/workspace/src/a.ts` are one place. */
                path?: components["parameters"]["Path"];
                /** @description Entries of one page at most. */
                limit?: number;
                /** @description `next_page` of the page before. */
                page?: string;
            };
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Folder"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtSessionsIdFolderContent: {
        parameters: {
            query?: {
                /** @description Below `/workspace`: `src/a.ts` and `/workspace/src/a.ts` are one place. */
                path?: components["parameters"]["Path"];
            };
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            /** @description A part of the bytes, for a request with `Range`. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            /** @description The bytes end before the range begins. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtSessionsIdFork: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionForkParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtSessionsIdWaitingMessages: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitingMessageList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtSessionsIdWaitingMessagesMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
                /** @description The id of the message. */
                message: components["parameters"]["MessageId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WaitingMessageUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitingMessageChange"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1ExtSessionsIdWaitingMessagesMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
                /** @description The id of the message. */
                message: components["parameters"]["MessageId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitingMessageChange"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtStream: {
        parameters: {
            query?: {
                /** @description `false`: only events of sessions, no changes. */
                workspace?: "0" | "1" | "true" | "false" | "";
                /** @description Sessions whose events come from now on, or behind `Last-Event-ID`. */
                sessions?: string | string[];
                /** @description For `sessions`: pieces of answers while they are written. */
                chunks?: "0" | "1" | "true" | "false" | "";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events; the data of each is one `SessionEvent` or `LiveSessionEvent` as JSON. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtTokenEstimates: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenEstimateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenEstimate"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ExtViews: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ViewList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1ExtViews: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ViewCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["View"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1ExtViewsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the view. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "view_deleted";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1Files: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Items behind this id. */
                after_id?: string;
                /** @description Items before this id. */
                before_id?: string;
                /** @description Only files of this session. */
                scope_id?: string;
                /** @description These files, in this order, on one page; one that is absent is left out. */
                ids?: string | string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileMetadataList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1Files: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["FileUploadParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileMetadata"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1FilesId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the file. */
                id: components["parameters"]["FileId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes. Or the metadata, with `anthropic-version`, or where JSON alone is accepted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                    "application/json": components["schemas"]["FileMetadata"];
                };
            };
            /** @description A part of the bytes, for a request with `Range`. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            /** @description The bytes end before the range begins. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1FilesId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the file. */
                id: components["parameters"]["FileId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "file_deleted";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1FilesIdContent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the file. */
                id: components["parameters"]["FileId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            /** @description A part of the bytes, for a request with `Range`. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            /** @description The bytes end before the range begins. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    getV1MemoryStores: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Created after this time. */
                "created_at[gt]"?: components["parameters"]["CreatedAtGt"];
                /** @description Created at this time or after it. */
                "created_at[gte]"?: components["parameters"]["CreatedAtGte"];
                /** @description Created before this time. */
                "created_at[lt]"?: components["parameters"]["CreatedAtLt"];
                /** @description Created at this time or before it. */
                "created_at[lte]"?: components["parameters"]["CreatedAtLte"];
                /** @description Whether archived ones are listed too. */
                include_archived?: components["parameters"]["IncludeArchived"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryStoreList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1MemoryStores: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemoryStoreCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryStore"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1MemoryStoresId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the memory store. */
                id: components["parameters"]["MemoryStoreId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryStore"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1MemoryStoresId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the memory store. */
                id: components["parameters"]["MemoryStoreId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemoryStoreUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryStore"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1MemoryStoresId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the memory store. */
                id: components["parameters"]["MemoryStoreId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "memory_store_deleted";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1MemoryStoresIdArchive: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the memory store. */
                id: components["parameters"]["MemoryStoreId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryStore"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1MemoryStoresIdMemories: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: number;
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description `full` includes the content. */
                view?: "basic" | "full";
                /** @description 1 lists what lies directly below the prefix; 0 lists everything below it. */
                depth?: "0" | "1";
                /** @description Only memories below it; begins and ends with `/`. Under the older beta value alone it may end otherwise, and is then the beginning of paths. */
                path_prefix?: string;
            };
            header?: never;
            path: {
                /** @description The id of the memory store. */
                id: components["parameters"]["MemoryStoreId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: (components["schemas"]["Memory"] | components["schemas"]["MemoryPrefix"])[];
                        /** @description Whether there is a next page. */
                        has_more: boolean;
                        /** @description Send it as `page` for the next page. */
                        next_page: string | null;
                        /** @description Send it as `page` for the page before. */
                        prev_page: string | null;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1MemoryStoresIdMemories: {
        parameters: {
            query?: {
                /** @description `full` includes the content. */
                view?: components["parameters"]["View"];
            };
            header?: never;
            path: {
                /** @description The id of the memory store. */
                id: components["parameters"]["MemoryStoreId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemoryCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Memory"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1MemoryStoresIdMemoriesMemoryId: {
        parameters: {
            query?: {
                /** @description `full` includes the content. */
                view?: components["parameters"]["View"];
            };
            header?: never;
            path: {
                /** @description The id of the memory store. */
                id: components["parameters"]["MemoryStoreId"];
                /** @description The id of the memory. */
                memory_id: components["parameters"]["MemoryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Memory"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1MemoryStoresIdMemoriesMemoryId: {
        parameters: {
            query?: {
                /** @description `full` includes the content. */
                view?: components["parameters"]["View"];
            };
            header?: never;
            path: {
                /** @description The id of the memory store. */
                id: components["parameters"]["MemoryStoreId"];
                /** @description The id of the memory. */
                memory_id: components["parameters"]["MemoryId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemoryUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Memory"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1MemoryStoresIdMemoriesMemoryId: {
        parameters: {
            query?: {
                /** @description The content that you have read: refused where the memory has another by now. */
                expected_content_sha256?: string;
            };
            header?: never;
            path: {
                /** @description The id of the memory store. */
                id: components["parameters"]["MemoryStoreId"];
                /** @description The id of the memory. */
                memory_id: components["parameters"]["MemoryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "memory_deleted";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1MemoryStoresIdMemoryVersions: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: number;
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Created after this time. */
                "created_at[gt]"?: components["parameters"]["CreatedAtGt"];
                /** @description Created at this time or after it. */
                "created_at[gte]"?: components["parameters"]["CreatedAtGte"];
                /** @description Created before this time. */
                "created_at[lt]"?: components["parameters"]["CreatedAtLt"];
                /** @description Created at this time or before it. */
                "created_at[lte]"?: components["parameters"]["CreatedAtLte"];
                /** @description `full` includes the content. */
                view?: "basic" | "full";
                /** @description Only versions of this memory. */
                memory_id?: string;
                /** @description Only versions that came about so. */
                operation?: "created" | "modified" | "deleted";
                /** @description Only versions that this session has made. */
                session_id?: string;
                /** @description Only versions that this key has made. */
                api_key_id?: string;
                /** @description Only versions of this service account: there are none. */
                service_account_id?: string;
            };
            header?: never;
            path: {
                /** @description The id of the memory store. */
                id: components["parameters"]["MemoryStoreId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryVersionList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1MemoryStoresIdMemoryVersionsVersionId: {
        parameters: {
            query?: {
                /** @description `full` includes the content. */
                view?: components["parameters"]["View"];
            };
            header?: never;
            path: {
                /** @description The id of the memory store. */
                id: components["parameters"]["MemoryStoreId"];
                /** @description The id of the version of a memory. */
                version_id: components["parameters"]["VersionOfAMemoryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryVersion"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1MemoryStoresIdMemoryVersionsVersionIdRedact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the memory store. */
                id: components["parameters"]["MemoryStoreId"];
                /** @description The id of the version of a memory. */
                version_id: components["parameters"]["VersionOfAMemoryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryVersion"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1Models: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Items behind this id. */
                after_id?: string;
                /** @description Items before this id. */
                before_id?: string;
                /** @description `active`, `deprecated` or `retired`. */
                lifecycle?: string | string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelInfoList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1ModelsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of the model, as an agent says it. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelInfo"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1OrganizationsApiKeys: {
        parameters: {
            query?: {
                /** @description 20 when absent. */
                limit?: number;
                /** @description The last item of the page before. */
                after_id?: components["parameters"]["AfterId"];
                /** @description The first item of the page after; not together with `after_id`. */
                before_id?: components["parameters"]["BeforeId"];
                /** @description Only keys in this state. */
                status?: "active" | "inactive" | "expired" | "archived" | "";
                /** @description Only keys of this workspace. */
                workspace_id?: string;
                /** @description Only keys that this person has made. */
                created_by_user_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationApiKeyList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1OrganizationsApiKeysId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the API key. */
                id: components["parameters"]["APIKeyId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationApiKey"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1OrganizationsApiKeysId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the API key. */
                id: components["parameters"]["APIKeyId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrganizationApiKeyUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationApiKey"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1OrganizationsSpendLimits: {
        parameters: {
            query?: {
                /** @description Only limits of these periods. */
                period?: components["parameters"]["Period"];
                /** @description Only limits with these scopes; the limits of this service are all of a workspace. */
                scope_type?: ("workspace" | "organization" | "organization_service" | "rbac_group" | "seat_tier" | "usage_tier" | "user") | ("workspace" | "organization" | "organization_service" | "rbac_group" | "seat_tier" | "usage_tier" | "user")[];
                /** @description Only limits of this workspace. */
                workspace_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpendLimitList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1OrganizationsSpendLimits: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SpendLimitCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpendLimit"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1OrganizationsSpendLimitsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the spend limit. */
                id: components["parameters"]["SpendLimitId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpendLimit"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1OrganizationsSpendLimitsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the spend limit. */
                id: components["parameters"]["SpendLimitId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SpendLimitUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpendLimit"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1OrganizationsSpendLimitsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the spend limit. */
                id: components["parameters"]["SpendLimitId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "spend_limit_deleted";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1OrganizationsWorkspacesId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the workspace. */
                id: components["parameters"]["WorkspaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1OrganizationsWorkspacesId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the workspace. */
                id: components["parameters"]["WorkspaceId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkspaceUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1OrganizationsWorkspacesId: {
        parameters: {
            query: {
                /** @description The name of the workspace, so that no other is deleted by mistake. */
                confirm: string;
            };
            header?: never;
            path: {
                /** @description The id of the workspace. */
                id: components["parameters"]["WorkspaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "workspace_deleted";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1OrganizationsWorkspacesIdArchive: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the workspace. */
                id: components["parameters"]["WorkspaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1OrganizationsWorkspacesIdRateLimits: {
        parameters: {
            query?: {
                /** @description Only the limits of this class of requests. */
                group_type?: components["parameters"]["GroupType"];
                /** @description Whether limits are listed too that the workspace has not set itself. */
                include_inherited?: "0" | "1" | "true" | "false" | "";
            };
            header?: never;
            path: {
                /** @description The id of the workspace. */
                id: components["parameters"]["WorkspaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceRateLimitList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1OrganizationsWorkspacesIdRateLimitsRateLimitId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the workspace. */
                id: components["parameters"]["WorkspaceId"];
                /** @description The id of the rate limit. */
                rate_limit_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkspaceRateLimitUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceRateLimit"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1Sessions: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Created after this time. */
                "created_at[gt]"?: components["parameters"]["CreatedAtGt"];
                /** @description Created at this time or after it. */
                "created_at[gte]"?: components["parameters"]["CreatedAtGte"];
                /** @description Created before this time. */
                "created_at[lt]"?: components["parameters"]["CreatedAtLt"];
                /** @description Created at this time or before it. */
                "created_at[lte]"?: components["parameters"]["CreatedAtLte"];
                /** @description By their creation; the newest first when absent. */
                order?: "asc" | "desc";
                /** @description Only sessions of this agent. */
                agent_id?: string;
                /** @description Only sessions that pinned this version. */
                agent_version?: number;
                /** @description Only sessions that this deployment has created. */
                deployment_id?: string;
                /** @description Only sessions with this memory store. */
                memory_store_id?: string;
                /** @description Whether archived ones are listed too. */
                include_archived?: components["parameters"]["IncludeArchived"];
                /** @description Only sessions that wait for one of these: a type of wait, `person`, `machine` or `money` for all waits that these end, or `any`. */
                waiting_on?: ("any" | "person" | "money" | "machine" | "approval" | "question" | "budget" | "tool_result" | "queue" | "worker" | "rate_limit" | "model_backoff" | "packages" | "files" | "sandbox" | "mcp" | "wakeup") | ("any" | "person" | "money" | "machine" | "approval" | "question" | "budget" | "tool_result" | "queue" | "worker" | "rate_limit" | "model_backoff" | "packages" | "files" | "sandbox" | "mcp" | "wakeup")[];
                /** @description Only sessions in one of these states. */
                status?: components["parameters"]["Status"];
                /** @description Only sessions in one of these states. */
                statuses?: components["parameters"]["Statuses"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1Sessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1SessionsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1SessionsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1SessionsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "session_deleted";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1SessionsIdArchive: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1SessionsIdEvents: {
        parameters: {
            query?: {
                /** @description Events of one page at most. */
                limit?: number;
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Created after this time. */
                "created_at[gt]"?: components["parameters"]["CreatedAtGt"];
                /** @description Created at this time or after it. */
                "created_at[gte]"?: components["parameters"]["CreatedAtGte"];
                /** @description Created before this time. */
                "created_at[lt]"?: components["parameters"]["CreatedAtLt"];
                /** @description Created at this time or before it. */
                "created_at[lte]"?: components["parameters"]["CreatedAtLte"];
                /** @description By their place in the log. */
                order?: components["parameters"]["Order"];
                /** @description Only events behind this `seq`. */
                after_seq?: number;
                /** @description Only events of these types, extension events too. */
                types?: string | string[];
                /** @description `chunks`: extension events as well. */
                include?: components["parameters"]["Include"];
                /** @description For a stream: pieces of these types of events. */
                event_deltas?: ("agent.message" | "agent.thinking") | ("agent.message" | "agent.thinking")[];
                /** @description A stream begins with everything that was kept, and then goes on live. */
                replay?: components["parameters"]["Replay"];
                /** @description `light`: long texts cut to their beginnings, no base64, and what each step took. Of pages alone. */
                view?: "light";
                /** @description `all`: events of every thread, in one page. Of pages alone. */
                threads?: "all";
            };
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. A stream where the request accepts `text/event-stream`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionEventList"];
                    "text/event-stream": string;
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1SessionsIdEvents: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EventSendParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SessionEvent"][];
                    };
                };
            };
            /** @description Done, without `anthropic-version`. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    getV1SessionsIdEventsEventId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                id: components["parameters"]["SessionId"];
                /** @description The id of the event. */
                event_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionEvent"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1Skills: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Only skills from this source. */
                source?: "anthropic" | "custom";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1Skills: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SkillTextsCreateParams"];
                "multipart/form-data": components["schemas"]["SkillCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Skill"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1SkillsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the skill. */
                id: components["parameters"]["SkillId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Skill"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1SkillsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the skill. */
                id: components["parameters"]["SkillId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "skill_deleted";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1SkillsIdVersions: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description The id of the skill. */
                id: components["parameters"]["SkillId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillVersionList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1SkillsIdVersions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the skill. */
                id: components["parameters"]["SkillId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SkillVersionTextsCreateParams"];
                "multipart/form-data": components["schemas"]["SkillVersionCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillVersion"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1SkillsIdVersionsVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the skill. */
                id: components["parameters"]["SkillId"];
                /** @description The number or the id of the version, or `latest`. */
                version: components["parameters"]["Version"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillVersion"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1SkillsIdVersionsVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the skill. */
                id: components["parameters"]["SkillId"];
                /** @description The number or the id of the version, or `latest`. */
                version: components["parameters"]["Version"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "skill_version_deleted";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1SkillsIdVersionsVersionContent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the skill. */
                id: components["parameters"]["SkillId"];
                /** @description The number or the id of the version, or `latest`. */
                version: components["parameters"]["Version"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": string;
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1SkillsIdVersionsVersionFilesFilename: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the skill. */
                id: components["parameters"]["SkillId"];
                /** @description The number or the id of the version, or `latest`. */
                version: components["parameters"]["Version"];
                /** @description The path of the file, percent-encoded as one segment. */
                filename: components["parameters"]["Filename"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                    "application/octet-stream": string;
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1Vaults: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Whether archived ones are listed too. */
                include_archived?: components["parameters"]["IncludeArchived"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VaultList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1Vaults: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VaultCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Vault"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1VaultsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the vault. */
                id: components["parameters"]["VaultId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Vault"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1VaultsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the vault. */
                id: components["parameters"]["VaultId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VaultUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Vault"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1VaultsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the vault. */
                id: components["parameters"]["VaultId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "vault_deleted";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    patchV1VaultsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the vault. */
                id: components["parameters"]["VaultId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VaultUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Vault"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1VaultsIdArchive: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the vault. */
                id: components["parameters"]["VaultId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Vault"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1VaultsIdCredentials: {
        parameters: {
            query?: {
                /** @description Items of one page at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_page` or `prev_page` of the page before. */
                page?: components["parameters"]["Page"];
                /** @description Another name of `page`. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Whether archived ones are listed too. */
                include_archived?: components["parameters"]["IncludeArchived"];
            };
            header?: never;
            path: {
                /** @description The id of the vault. */
                id: components["parameters"]["VaultId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialList"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1VaultsIdCredentials: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the vault. */
                id: components["parameters"]["VaultId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CredentialCreateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getV1VaultsIdCredentialsCredentialId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the vault. */
                id: components["parameters"]["VaultId"];
                /** @description The id of the credential. */
                credential_id: components["parameters"]["CredentialId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1VaultsIdCredentialsCredentialId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the vault. */
                id: components["parameters"]["VaultId"];
                /** @description The id of the credential. */
                credential_id: components["parameters"]["CredentialId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CredentialUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    deleteV1VaultsIdCredentialsCredentialId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the vault. */
                id: components["parameters"]["VaultId"];
                /** @description The id of the credential. */
                credential_id: components["parameters"]["CredentialId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was deleted. */
                        id: string;
                        /** @constant */
                        type: "vault_credential_deleted";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    patchV1VaultsIdCredentialsCredentialId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the vault. */
                id: components["parameters"]["VaultId"];
                /** @description The id of the credential. */
                credential_id: components["parameters"]["CredentialId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CredentialUpdateParams"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1VaultsIdCredentialsCredentialIdArchive: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the vault. */
                id: components["parameters"]["VaultId"];
                /** @description The id of the credential. */
                credential_id: components["parameters"]["CredentialId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    postV1VaultsIdCredentialsCredentialIdMcpOauthValidate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the vault. */
                id: components["parameters"]["VaultId"];
                /** @description The id of the credential. */
                credential_id: components["parameters"]["CredentialId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialValidation"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
}
