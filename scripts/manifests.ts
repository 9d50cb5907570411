// Writes deploy/kubernetes/steward.yaml, which is the chart in deploy/helm with its default values.
import { writeFileSync } from 'node:fs'
import { chartRenderer, plainManifests } from '../conformance/deploy/chart.ts'

const renderer = chartRenderer()
const file = new URL('../deploy/kubernetes/steward.yaml', import.meta.url)
writeFileSync(file, plainManifests(renderer.renderTexts))
renderer.close()
