{{- define "steward.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "steward.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "steward.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "steward.worker" -}}
{{- printf "%s-worker" (include "steward.fullname" .) -}}
{{- end -}}

{{- define "steward.selector" -}}
app.kubernetes.io/name: {{ include "steward.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end -}}

{{- define "steward.workerSelector" -}}
app.kubernetes.io/name: {{ include "steward.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: worker
{{- end -}}

{{- define "steward.commonLabels" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Metadata of an object of the server: its name, labels, and annotations that are given beside the common ones. */}}
{{- define "steward.metadata" -}}
{{- $root := .root -}}
name: {{ .name }}
labels:
  {{- include "steward.selector" $root | nindent 2 }}
  {{- include "steward.commonLabels" $root | nindent 2 }}
{{- with merge dict (default dict .annotations) $root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "steward.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "steward.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* Of an image: its repository, and its digest or tag. */}}
{{- define "steward.image" -}}
{{- if .image.digest -}}
{{- printf "%s@%s" .image.repository .image.digest -}}
{{- else -}}
{{- printf "%s:%s" .image.repository (default .root.Chart.AppVersion .image.tag) -}}
{{- end -}}
{{- end -}}

{{/* Not empty where several servers may run at once. */}}
{{- define "steward.isMany" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) }}many{{ end -}}
{{- end -}}

{{/* Secret settings and their keys in the Secret. */}}
{{- define "steward.secretSettings" -}}
{{- $all := deepCopy .Values.secretSettings -}}
{{- if eq .Values.database "postgres" }}{{ $_ := set $all "DATABASE_URL" "database-url" }}{{ end -}}
{{- if eq .Values.files "bucket" }}{{ $_ := set $all "STORE_BACKENDS" "store-backends" }}{{ end -}}
{{- toYaml $all -}}
{{- end -}}

{{/* The rules of a container. Sandboxes need a /proc without masks, and do the rest themselves. */}}
{{- define "steward.containerSecurity" -}}
runAsNonRoot: true
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities:
  drop: [ALL]
{{- if .hasSandboxes }}
procMount: Unmasked
seccompProfile:
  {{- toYaml .root.Values.sandboxes.seccompProfile | nindent 2 }}
appArmorProfile:
  {{- toYaml .root.Values.sandboxes.appArmorProfile | nindent 2 }}
{{- else }}
seccompProfile:
  type: RuntimeDefault
{{- end }}
{{- end -}}

{{/* The rules of a pod. The user is the one of the images. */}}
{{- define "steward.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- if .hasSandboxes }}
hostUsers: false
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  {{- if not .hasSandboxes }}
  seccompProfile:
    type: RuntimeDefault
  {{- end }}
{{- end -}}

{{/* Where pods run. */}}
{{- define "steward.scheduling" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- end -}}

{{/* Refuses what would lose data, or could not run. */}}
{{- define "steward.check" -}}
{{- $isMany := include "steward.isMany" . -}}
{{- $needsVolume := or (eq .Values.database "sqlite") (eq .Values.files "volume") -}}
{{- if and $isMany (eq .Values.database "sqlite") -}}
{{- fail "replicas: several servers need database=postgres: a second process on one SQLite file is refused" -}}
{{- end -}}
{{- if and $isMany (eq .Values.files "volume") -}}
{{- fail "replicas: several servers need files=bucket: each would keep its files where the others do not find them" -}}
{{- end -}}
{{- if and $isMany .Values.persistence.enabled -}}
{{- fail "replicas: several servers need persistence.enabled=false: one volume cannot be theirs, and the database and the bucket keep what stays" -}}
{{- end -}}
{{- if and $needsVolume (not .Values.persistence.enabled) -}}
{{- fail "persistence.enabled: database=sqlite and files=volume need a volume: without one everything is lost with the pod" -}}
{{- end -}}
{{- if and .Values.persistence.enabled (eq .Values.updateStrategy "RollingUpdate") -}}
{{- fail "updateStrategy: with a volume it must be Recreate: the next pod waits for the volume of the one before" -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.enabled) -}}
{{- fail "metrics.serviceMonitor.enabled: needs metrics.enabled=true" -}}
{{- end -}}
{{- if and .Values.worker.enabled (not .Values.worker.environmentId) -}}
{{- fail "worker.environmentId: must name an environment of type self_hosted, such as env_…" -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{- fail "ingress.hosts: must have a host" -}}
{{- end -}}
{{- end -}}
