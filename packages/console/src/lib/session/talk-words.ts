/** Sentences of the timeline and the talk of a session: they are loaded with these. */
export const talkWords = {
  waited: (time: string) => `waited ${time}`,
  times: { work: 'work', wait: 'wait', wall: 'wall' },
  zoomed: (part: string, whole: string) => `${part} of ${whole}`,
  zoomHint: 'Drag over the bars to see a span alone, or press z on a step',
  wholeTurn: 'Whole turn',
  timelineMap: 'Turns in one line',
  timelineWidth: 'Width of the timeline',
  inspectorWidth: 'Width of the details',
  compaction: {
    title: 'History compacted',
    messages: (replaced: number, kept: number) =>
      replaced === 0
        ? `long results cut, ${kept} messages kept`
        : `${replaced} messages became a summary, ${kept} kept`,
    tokens: (before: string, after: string) => `${before} → ${after} tokens`,
    overflow: 'the model refused it as too long',
    unwritten: 'no summary could be written',
  },
  outputSoFar: 'Output so far',
  leftOut: (size: string) => `… ${size} not shown …`,
  noOutputFor: (time: string) => `no output for ${time}`,
  failedOf: (count: number) => (count === 1 ? '1 failed' : `${count} failed`),
  failedWhole: { turn: 'The turn failed', session: 'The session failed, and has ended' },
  goesOn: (failure: string) => `${failure} · tried again`,
  endedNote: 'The session has ended',
  retired: 'an interrupt came before anybody decided',
  stopped: 'interrupted',
  previousEvent: 'Previous event',
  nextEvent: 'Next event',
  noMoreEvents: 'This page has no more events there',
  later: 'Show later events',
  moreAsked: (count: number) => `${count} more wait behind this one`,
  interrupted: 'Interrupted by a person',
  toThread: (name: string) => `Message to ${name}`,
  fromThread: (name: string) => `Message from ${name}`,
  mainAgent: 'the main agent',
} as const
