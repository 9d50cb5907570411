/** The sentences of a first day. */
export const firstWords = {
  title: 'Your first day',
  hide: 'Hide this',
  models: 'A model answers',
  modelsText: (name: string) => `${name} is ready to be used.`,
  offlineText: 'The offline model needs no key and follows commands. A real model needs a key.',
  agent: 'Make an agent',
  agentText: 'Take one of the three here, or ',
  fromNothing: 'start from nothing',
  agentDone: (count: number) =>
    count === 1 ? 'There is one agent.' : `There are ${count} agents.`,
  run: 'Run it',
  runText: 'You watch what it does as it does it, and answer what it asks.',
  runDone: 'The first session has begun.',
  invite: 'Invite somebody',
  inviteText: 'So that an agent that asks is answered while you are away: ',
  toMembers: 'members',
  templates: 'Three that do something at once',
  templatesHint: 'what they make can be changed and archived',
  make: 'Make and run',
  done: 'done',
} as const
