{{- define "recourse.name" -}}
{{- printf "%s-%s" .root.Release.Name .program | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "recourse.selector" -}}
app.kubernetes.io/part-of: recourse
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/name: {{ .program }}
{{- end -}}

{{- define "recourse.labels" -}}
{{ include "recourse.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "recourse.image" -}}
{{- $image := .root.Values.image -}}
{{- $digest := get $image.digests .program -}}
{{- if $digest -}}
{{ $image.repository }}/{{ .program }}@{{ $digest }}
{{- else -}}
{{ $image.repository }}/{{ .program }}:{{ $image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "recourse.brokers" -}}
{{- if .Values.kafka.brokers -}}
{{ join "," .Values.kafka.brokers }}
{{- else -}}
{{ .Values.strimzi.cluster }}-kafka-bootstrap.{{ include "recourse.kafkaNamespace" . }}.svc:{{ .Values.kafka.port }}
{{- end -}}
{{- end -}}

{{- define "recourse.kafkaNamespace" -}}
{{ .Values.strimzi.namespace | default .Release.Namespace }}
{{- end -}}

{{- define "recourse.databaseUrl" -}}
{{- $database := printf "%s_%s" .root.Values.postgres.prefix (.owner | replace "-" "_") -}}
{{- with .root.Values.postgres -}}
postgres://{{ $database }}@{{ .host }}:{{ .port }}/{{ $database }}{{ with .parameters }}?{{ . }}{{ end }}
{{- end -}}
{{- end -}}

{{- /* One of the parameters of an address of PostgreSQL, such as sslmode; nothing where it is not among them. */ -}}
{{- define "recourse.databaseParameter" -}}
{{- range regexSplit "&" .root.Values.postgres.parameters -1 -}}
{{- if hasPrefix (printf "%s=" $.name) . }}{{ trimPrefix (printf "%s=" $.name) . }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "recourse.pullSecrets" -}}
{{- with .Values.image.pullSecrets -}}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end -}}
{{- end -}}

{{- /* A pod of ours: no user with a name, no way to more rights, nothing written below the root. */ -}}
{{- define "recourse.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "recourse.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}
