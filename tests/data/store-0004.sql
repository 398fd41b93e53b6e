-- A store of revision 0004, as `sqlite3 zerolap.db .dump` writes it. The code and tests of commit 260625b made it:
--
--     import sys
--     from test_store import *
--     d = sys.argv[1]
--     with Store.open(d) as s:
--         done = a_comparison(state="done", notes=["a note"], summary={**NOTHING, "regression": 1, "same": 1, "machine_seconds": 12.5}, cases=[a_case("zadd", "same"), a_case("xadd")],
--           skipped=[{"case": "big", "reason": "memory", "text": "needs 9 GiB"}])
--         s.begin(a_comparison())
--         def t(side, engine, block, case="xadd"): return Trial(case=case, side=side, engine=engine, block=block, seed=2**64-1)
--         def m(**k): return Measurement(metrics={"instructions_per_op": 11201.4, "syscalls_per_op": 0.125}, validity=VALID, seconds=2.5, **k)
--         s.record_trial("c-1", t("base","counted",0), m(profile="aa"*32))
--         s.record_trial("c-1", t("head","counted",0), m(profile="bb"*32))
--         s.record_trial("c-1", t("base","timed",0), Measurement(metrics={"cpu_ns_per_op": 900.5}, validity=VALID, profile="cc"*32, seconds=1.5))
--         s.record_trial("c-1", t("head","timed",0), Measurement(metrics={"cpu_ns_per_op": 901.5}, validity=VALID, profile="cd"*32, seconds=1.5))
--         s.record_trial("c-1", t("base","timed",500), Measurement(metrics={"latency_p50_us": 90.5}, validity=VALID, profile="ce"*32))
--         s.record_trial("c-1", t("head","sampled",0), Measurement(metrics={}, validity=VALID, profile="dd"*32))
--         s.record_trial("c-1", t("base","own",0), Measurement(metrics={"x": 1.0}, validity=VALID))
--         s.record_failure("c-1", t("base","timed",1,"zadd"), "it crashed", "the log")
--         s.record_failure("c-1", t("head","timed",1,"zadd"), "it crashed", "the log")
--         s.finish(done)
--         s.record_spreads("c-1", {("get", "cpu_ns_per_op"): Spread(variance=1e-4, degrees=5.0)})
--         s.begin_run(a_run(cases=[], notes=[]))
--         s.record_trial("r-1", t("base","counted",0,"get"), m())
--         s.finish_run(a_run())
--         s.begin(a_comparison("c-2"))
--         s.record_case("c-2", a_case())

BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0004');
CREATE TABLE build (
	build VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	"commit" VARCHAR, 
	version VARCHAR NOT NULL, 
	build_id VARCHAR NOT NULL, 
	flags TEXT NOT NULL, 
	compiler TEXT NOT NULL, 
	stripped BOOLEAN NOT NULL, variant VARCHAR DEFAULT '' NOT NULL, allocator VARCHAR DEFAULT '' NOT NULL, 
	CONSTRAINT pk_build PRIMARY KEY (build)
);
INSERT INTO "build" VALUES('b-1','HEAD',NULL,'7.0.15','ff','-O2','',0,'','');
CREATE TABLE case_result (
	id INTEGER NOT NULL, 
	comparison_id VARCHAR NOT NULL, 
	position INTEGER NOT NULL, 
	"case" VARCHAR NOT NULL, 
	commands TEXT NOT NULL, 
	"group" VARCHAR NOT NULL, 
	topology VARCHAR NOT NULL, 
	verdict VARCHAR, 
	confirmed BOOLEAN, 
	valid BOOLEAN NOT NULL, 
	validity TEXT NOT NULL, 
	failure TEXT, 
	document TEXT, 
	CONSTRAINT pk_case_result PRIMARY KEY (id), 
	CONSTRAINT fk_case_result_comparison_id FOREIGN KEY(comparison_id) REFERENCES comparison (id) ON DELETE CASCADE, 
	CONSTRAINT uq_case_result_comparison_id_case UNIQUE (comparison_id, "case")
);
INSERT INTO "case_result" VALUES(1,'c-1',0,'zadd','["XADD"]','stream','standalone','same',0,1,'{"valid":true,"checks":[{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"}]}',NULL,NULL);
INSERT INTO "case_result" VALUES(2,'c-1',1,'xadd','["XADD"]','stream','standalone','regression',0,1,'{"valid":true,"checks":[{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"}]}',NULL,NULL);
INSERT INTO "case_result" VALUES(3,'r-1',0,'get','["GET"]','string','standalone',NULL,NULL,1,'{"valid":true,"checks":[{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"}]}',NULL,'{"case":"get","commands":["GET"],"group":"string","topology":"standalone","validity":{"valid":true,"checks":[{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"}]},"metrics":{"instructions_per_op":100.5},"functions":[{"function":"f","file":null,"self_instructions_per_op":1.5,"calls_per_op":1.0,"self_cpu_ns_per_op":null,"share":0.1}],"samples":3,"limits":[],"failure":null}');
INSERT INTO "case_result" VALUES(4,'c-2',0,'xadd','["XADD"]','stream','standalone','regression',0,1,'{"valid":true,"checks":[{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"}]}',NULL,NULL);
CREATE TABLE comparison (
	number INTEGER NOT NULL, 
	id VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	schema VARCHAR NOT NULL, 
	created VARCHAR NOT NULL, 
	command_line TEXT NOT NULL, 
	state VARCHAR NOT NULL, 
	base_build VARCHAR, 
	head_build VARCHAR NOT NULL, 
	platform_fingerprint VARCHAR NOT NULL, 
	base TEXT, 
	head TEXT NOT NULL, 
	platform TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	notes TEXT NOT NULL, 
	summary TEXT NOT NULL, skipped TEXT DEFAULT '[]' NOT NULL, 
	CONSTRAINT pk_comparison PRIMARY KEY (number), 
	CONSTRAINT ck_comparison_kind CHECK (kind IN ('compare', 'run')), 
	CONSTRAINT ck_comparison_state CHECK (state IN ('running', 'done', 'interrupted', 'failed')), 
	CONSTRAINT fk_comparison_base_build FOREIGN KEY(base_build) REFERENCES build (build), 
	CONSTRAINT fk_comparison_head_build FOREIGN KEY(head_build) REFERENCES build (build), 
	CONSTRAINT fk_comparison_platform_fingerprint FOREIGN KEY(platform_fingerprint) REFERENCES platform (fingerprint), 
	CONSTRAINT uq_comparison_id UNIQUE (id)
);
INSERT INTO "comparison" VALUES(1,'c-1','compare','zerolap.comparison/1','2026-11-20T21:00:00Z','zerolap compare a b','done','b-1','b-1','p-1','{"name":"HEAD~1","commit":"abc","version":"7.0.15","build":"b-1","build_id":"ff","flags":"-O2","compiler":"","stripped":false,"variant":"","allocator":"","config":{}}','{"name":"HEAD","commit":null,"version":"7.0.15","build":"b-1","build_id":"ff","flags":"-O2","compiler":"","stripped":false,"variant":"","allocator":"","config":{}}','{"name":"laptop","fingerprint":"p-1","cpu":"a cpu","cores":2,"kernel":"6.1"}','{"engines":["counted"],"min_effect":{"counted":0.005},"q":0.01,"budget_seconds":null,"seed":18446744073709551615,"quick":false,"load_policy":"lab","load_tool":"zerolap-load"}','["a note"]','{"regression":1,"improvement":0,"same":1,"unsure":0,"invalid":0,"machine_seconds":12.5}','[{"case":"big","reason":"memory","text":"needs 9 GiB"}]');
INSERT INTO "comparison" VALUES(2,'r-1','run','zerolap.run/1','2026-11-20T21:00:00Z','zerolap run','done',NULL,'b-1','p-1',NULL,'{"name":"HEAD~1","commit":"abc","version":"7.0.15","build":"b-1","build_id":"ff","flags":"-O2","compiler":"","stripped":false,"variant":"","allocator":"","config":{}}','{"name":"laptop","fingerprint":"p-1","cpu":"a cpu","cores":2,"kernel":"6.1"}','{"engines":["counted"],"min_effect":{"counted":0.005},"q":0.01,"budget_seconds":null,"seed":18446744073709551615,"quick":false,"load_policy":"lab","load_tool":"zerolap-load"}','["a note"]','{"machine_seconds":1.5}','[]');
INSERT INTO "comparison" VALUES(3,'c-2','compare','zerolap.comparison/1','2026-11-20T21:00:00Z','zerolap compare a b','running','b-1','b-1','p-1','{"name":"HEAD~1","commit":"abc","version":"7.0.15","build":"b-1","build_id":"ff","flags":"-O2","compiler":"","stripped":false,"variant":"","allocator":"","config":{}}','{"name":"HEAD","commit":null,"version":"7.0.15","build":"b-1","build_id":"ff","flags":"-O2","compiler":"","stripped":false,"variant":"","allocator":"","config":{}}','{"name":"laptop","fingerprint":"p-1","cpu":"a cpu","cores":2,"kernel":"6.1"}','{"engines":["counted"],"min_effect":{"counted":0.005},"q":0.01,"budget_seconds":null,"seed":18446744073709551615,"quick":false,"load_policy":"lab","load_tool":"zerolap-load"}','[]','{"regression":1,"improvement":0,"same":0,"unsure":0,"invalid":0,"machine_seconds":0.0}','[]');
CREATE TABLE finding (
	case_result_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	rank INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	function VARCHAR, 
	document TEXT NOT NULL, 
	CONSTRAINT pk_finding PRIMARY KEY (case_result_id, position), 
	CONSTRAINT fk_finding_case_result_id FOREIGN KEY(case_result_id) REFERENCES case_result (id) ON DELETE CASCADE
);
INSERT INTO "finding" VALUES(1,0,1,'culprit','createStreamIDString','{"kind":"culprit","rank":1,"function":"createStreamIDString","file":null,"lines":null,"instructions_per_op":null,"self_instructions_per_op":null,"calls_per_op":{"base":null,"head":2.0},"cpu_ns_per_op":null,"self_cpu_ns_per_op":null,"share_of_change":null,"in_diff":null,"callers":[{"function":"f","file":null,"calls_per_op":{"base":1.0,"head":2.0},"in_diff":true}],"text":"it is called twice"}');
INSERT INTO "finding" VALUES(2,0,1,'culprit','createStreamIDString','{"kind":"culprit","rank":1,"function":"createStreamIDString","file":null,"lines":null,"instructions_per_op":null,"self_instructions_per_op":null,"calls_per_op":{"base":null,"head":2.0},"cpu_ns_per_op":null,"self_cpu_ns_per_op":null,"share_of_change":null,"in_diff":null,"callers":[{"function":"f","file":null,"calls_per_op":{"base":1.0,"head":2.0},"in_diff":true}],"text":"it is called twice"}');
INSERT INTO "finding" VALUES(4,0,1,'culprit','createStreamIDString','{"kind":"culprit","rank":1,"function":"createStreamIDString","file":null,"lines":null,"instructions_per_op":null,"self_instructions_per_op":null,"calls_per_op":{"base":null,"head":2.0},"cpu_ns_per_op":null,"self_cpu_ns_per_op":null,"share_of_change":null,"in_diff":null,"callers":[{"function":"f","file":null,"calls_per_op":{"base":1.0,"head":2.0},"in_diff":true}],"text":"it is called twice"}');
CREATE TABLE metric (
	trial_id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	value FLOAT NOT NULL, 
	CONSTRAINT pk_metric PRIMARY KEY (trial_id, name), 
	CONSTRAINT fk_metric_trial_id FOREIGN KEY(trial_id) REFERENCES trial (id) ON DELETE CASCADE
);
INSERT INTO "metric" VALUES(1,'instructions_per_op',11201.4);
INSERT INTO "metric" VALUES(1,'syscalls_per_op',0.125);
INSERT INTO "metric" VALUES(2,'instructions_per_op',11201.4);
INSERT INTO "metric" VALUES(2,'syscalls_per_op',0.125);
INSERT INTO "metric" VALUES(3,'cpu_ns_per_op',900.5);
INSERT INTO "metric" VALUES(4,'cpu_ns_per_op',901.5);
INSERT INTO "metric" VALUES(5,'latency_p50_us',90.5);
INSERT INTO "metric" VALUES(7,'x',1.0);
INSERT INTO "metric" VALUES(10,'instructions_per_op',11201.4);
INSERT INTO "metric" VALUES(10,'syscalls_per_op',0.125);
CREATE TABLE platform (
	fingerprint VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	cpu VARCHAR NOT NULL, 
	cores INTEGER NOT NULL, 
	kernel VARCHAR NOT NULL, 
	CONSTRAINT pk_platform PRIMARY KEY (fingerprint)
);
INSERT INTO "platform" VALUES('p-1','laptop','a cpu',2,'6.1');
CREATE TABLE start_spread (
	comparison_id VARCHAR NOT NULL, 
	"case" VARCHAR NOT NULL, 
	metric VARCHAR NOT NULL, 
	platform_fingerprint VARCHAR NOT NULL, 
	variance FLOAT NOT NULL, 
	degrees FLOAT NOT NULL, 
	CONSTRAINT pk_start_spread PRIMARY KEY (comparison_id, "case", metric), 
	CONSTRAINT fk_start_spread_comparison_id_comparison FOREIGN KEY(comparison_id) REFERENCES comparison (id) ON DELETE CASCADE, 
	CONSTRAINT fk_start_spread_platform_fingerprint_platform FOREIGN KEY(platform_fingerprint) REFERENCES platform (fingerprint)
);
INSERT INTO "start_spread" VALUES('c-1','get','cpu_ns_per_op','p-1',0.0001,5.0);
CREATE TABLE trial (
	id INTEGER NOT NULL, 
	comparison_id VARCHAR NOT NULL, 
	"case" VARCHAR NOT NULL, 
	side VARCHAR NOT NULL, 
	engine VARCHAR NOT NULL, 
	block INTEGER NOT NULL, 
	seed VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	failure TEXT, 
	log VARCHAR, 
	valid BOOLEAN, 
	validity TEXT, 
	profile VARCHAR, 
	seconds FLOAT NOT NULL, 
	CONSTRAINT pk_trial PRIMARY KEY (id), 
	CONSTRAINT ck_trial_state CHECK (state IN ('done', 'failed')), 
	CONSTRAINT fk_trial_comparison_id FOREIGN KEY(comparison_id) REFERENCES comparison (id) ON DELETE CASCADE, 
	CONSTRAINT uq_trial_comparison_id_case_side_engine_block UNIQUE (comparison_id, "case", side, engine, block)
);
INSERT INTO "trial" VALUES(1,'c-1','xadd','base','counted',0,'18446744073709551615','done',NULL,NULL,1,'{"valid":true,"checks":[{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"}]}','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',2.5);
INSERT INTO "trial" VALUES(2,'c-1','xadd','head','counted',0,'18446744073709551615','done',NULL,NULL,1,'{"valid":true,"checks":[{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"}]}','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',2.5);
INSERT INTO "trial" VALUES(3,'c-1','xadd','base','timed',0,'18446744073709551615','done',NULL,NULL,1,'{"valid":true,"checks":[{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"}]}','cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc',1.5);
INSERT INTO "trial" VALUES(4,'c-1','xadd','head','timed',0,'18446744073709551615','done',NULL,NULL,1,'{"valid":true,"checks":[{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"}]}','cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd',1.5);
INSERT INTO "trial" VALUES(5,'c-1','xadd','base','timed',500,'18446744073709551615','done',NULL,NULL,1,'{"valid":true,"checks":[{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"}]}','cececececececececececececececececececececececececececececececece',0.0);
INSERT INTO "trial" VALUES(6,'c-1','xadd','head','sampled',0,'18446744073709551615','done',NULL,NULL,1,'{"valid":true,"checks":[{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"}]}','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',0.0);
INSERT INTO "trial" VALUES(7,'c-1','xadd','base','own',0,'18446744073709551615','done',NULL,NULL,1,'{"valid":true,"checks":[{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"}]}',NULL,0.0);
INSERT INTO "trial" VALUES(8,'c-1','zadd','base','timed',1,'18446744073709551615','failed','it crashed','20681c9f57b1ac848be00fbf2f3ef991e6fd7ce4060d5cb94f6dc4ececd68b29',NULL,NULL,NULL,0.0);
INSERT INTO "trial" VALUES(9,'c-1','zadd','head','timed',1,'18446744073709551615','failed','it crashed','20681c9f57b1ac848be00fbf2f3ef991e6fd7ce4060d5cb94f6dc4ececd68b29',NULL,NULL,NULL,0.0);
INSERT INTO "trial" VALUES(10,'r-1','get','base','counted',0,'18446744073709551615','done',NULL,NULL,1,'{"valid":true,"checks":[{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"}]}',NULL,2.5);
CREATE TABLE verdict (
	case_result_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	metric VARCHAR NOT NULL, 
	engine VARCHAR NOT NULL, 
	verdict VARCHAR NOT NULL, 
	base FLOAT NOT NULL, 
	head FLOAT NOT NULL, 
	change FLOAT NOT NULL, 
	low FLOAT NOT NULL, 
	high FLOAT NOT NULL, 
	q FLOAT, 
	samples INTEGER NOT NULL, 
	pairs INTEGER NOT NULL, 
	min_effect FLOAT NOT NULL, 
	detectable FLOAT NOT NULL, 
	CONSTRAINT pk_verdict PRIMARY KEY (case_result_id, position), 
	CONSTRAINT fk_verdict_case_result_id FOREIGN KEY(case_result_id) REFERENCES case_result (id) ON DELETE CASCADE
);
INSERT INTO "verdict" VALUES(1,0,'instructions_per_op','counted','regression',11201.4,13087.2,3.00000000000000044408e-01,-9e999,0.171,1.0e-300,3,3,0.005,0.002);
INSERT INTO "verdict" VALUES(2,0,'instructions_per_op','counted','regression',11201.4,13087.2,3.00000000000000044408e-01,-9e999,0.171,1.0e-300,3,3,0.005,0.002);
INSERT INTO "verdict" VALUES(4,0,'instructions_per_op','counted','regression',11201.4,13087.2,3.00000000000000044408e-01,-9e999,0.171,1.0e-300,3,3,0.005,0.002);
CREATE INDEX ix_comparison_base_build ON comparison (base_build);
CREATE INDEX ix_comparison_head_build ON comparison (head_build);
CREATE INDEX ix_trial_case_engine ON trial ("case", engine);
CREATE INDEX ix_finding_function ON finding (function);
CREATE INDEX ix_verdict_metric_verdict ON verdict (metric, verdict);
CREATE INDEX ix_start_spread_platform_fingerprint_metric ON start_spread (platform_fingerprint, metric);
COMMIT;
