/** For tests: the provider. Its engine is named in the URL of this module, so that other processes find it too. */
import type { SandboxProvider } from '../sandbox.ts'
import { dockerSandboxes } from './docker.ts'
import { testImage } from './fixture.ts'

const engine = new URL(import.meta.url).searchParams

export const reportedLines: string[] = []

export function engineSandboxes(): SandboxProvider {
  return dockerSandboxes({
    name: engine.get('kind') === 'podman' ? 'podman' : 'docker',
    socket: engine.get('socket') ?? '',
    image: testImage,
    report: (line) => reportedLines.push(line),
  })
}
