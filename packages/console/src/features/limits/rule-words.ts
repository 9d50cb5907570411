/** The sentences about rules of the workspace. */
export const ruleWords = {
  allowed: {
    title: 'What may be named',
    beside: 'admins narrow it by POST /v1/ext/rules',
    names: {
      models: 'Models',
      mcp_servers: 'MCP servers',
      webhooks: 'Webhooks',
      images: 'Images',
    },
    kind: 'What',
    operator: 'By the operator',
    workspace: 'By this workspace',
    all: 'all',
    nothing: 'none',
  },
  kept: {
    title: 'How long things are kept',
    beside: 'admins change it by POST /v1/ext/retention',
    names: {
      sessions: 'Sessions at rest',
      files: 'Uploaded files',
      outputs: 'Outputs',
      memory_versions: 'Versions of memories',
      deliveries: 'Deliveries',
    },
    kind: 'What',
    days: 'Days',
    due: 'Would go now',
    held: 'Held',
    forever: 'until deleted',
  },
  holds: {
    title: 'Legal holds',
    beside: 'nothing that they keep is removed',
    none: 'Nothing is held. Admins hold a session, a person or the workspace by POST /v1/ext/holds.',
    kept: 'What is kept',
    reason: 'Reason',
    by: 'Made by',
    at: 'Since',
    whole: 'the whole workspace',
  },
} as const
