/** The sentences of the page of the workspace. */
export const workspaceWords = {
  title: 'This workspace',
  about: 'What it is',
  facts: { id: 'Id', made: 'Made', role: 'Your role' },
  name: 'Name',
  nameHint: 'People see it; programs name the workspace by its id.',
  rename: 'Rename',
  sameName: 'The name was not changed',
  renamed: (name: string) => `The workspace is called ${name} now.`,
  end: 'The end of it',
  archiveHint:
    'An archived workspace is reached by nobody: its keys are revoked at once, turns that run come to their end. What it has is kept. The operator of the server can open it again, and an owner can delete it for good.',
  archive: 'Archive',
  archiveTitle: (name: string) => `Archive ${name}`,
  archiveVerb: 'Archive the workspace',
  archiveText: 'All keys of it are revoked at once, and nobody reaches it, you included.',
  confirmLabel: (name: string) => `Write its name to confirm: ${name}`,
  confirmFirst: 'Write the name of the workspace first',
} as const
