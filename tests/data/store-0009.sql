PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO alembic_version VALUES('0009');
CREATE TABLE build (
	build VARCHAR NOT NULL, 
	version VARCHAR NOT NULL, 
	build_id VARCHAR NOT NULL, 
	flags TEXT NOT NULL, 
	compiler TEXT NOT NULL, 
	stripped BOOLEAN NOT NULL, 
	variant VARCHAR NOT NULL, 
	allocator VARCHAR NOT NULL, 
	architecture VARCHAR NOT NULL, 
	libc VARCHAR NOT NULL, 
	source_root TEXT NOT NULL, 
	arguments TEXT NOT NULL, 
	path TEXT, 
	CONSTRAINT pk_build PRIMARY KEY (build)
);
INSERT INTO build VALUES('b-5edb3c24e59223539c6b9b623fb0efaf','7.0.15','a50d6825e71f1473372299161f75fe50e80452de','','',1,'','jemalloc-5.3.0','x86_64','glibc 2.34','','[]',NULL);
CREATE TABLE platform (
	fingerprint VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	cpu VARCHAR NOT NULL, 
	cores INTEGER NOT NULL, 
	CONSTRAINT pk_platform PRIMARY KEY (fingerprint)
);
INSERT INTO platform VALUES('9b4b2c8b1557be8c','vm','AMD EPYC',2);
CREATE TABLE revision (
	repository VARCHAR NOT NULL, 
	"commit" VARCHAR NOT NULL, 
	time VARCHAR NOT NULL, 
	subject TEXT NOT NULL, 
	CONSTRAINT pk_revision PRIMARY KEY (repository, "commit")
);
CREATE TABLE series (
	id VARCHAR NOT NULL, 
	"case" VARCHAR NOT NULL, 
	case_digest VARCHAR NOT NULL, 
	metric VARCHAR NOT NULL, 
	engine VARCHAR NOT NULL, 
	topology VARCHAR NOT NULL, 
	config TEXT NOT NULL, 
	variant VARCHAR NOT NULL, 
	platform VARCHAR NOT NULL, 
	method INTEGER NOT NULL, 
	CONSTRAINT pk_series PRIMARY KEY (id)
);
INSERT INTO series VALUES('s-132d7ca2ad19a5470892a2f17ce99d46','get-100B','432f13bbaaa214bc','instructions_alone_per_op','counted','standalone','[]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-258a42626e95291229fd9fc31f3fb0a4','get-100B','432f13bbaaa214bc','allocations_per_op','counted','standalone','[]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-321eed6aed08773c3eba624d8d20f291','get-100B','432f13bbaaa214bc','clock_readings_per_op','counted','standalone','[]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-4ea46a8ddf4edd7c86b5206ade43ad5f','get-100B','432f13bbaaa214bc','syscalls_per_op','counted','standalone','[]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-8a10f834f0de0740e9bd658ced36725c','get-100B','432f13bbaaa214bc','instructions_per_tick','counted','standalone','[]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-d40ae683756c0987b3e1f4a6f024e700','get-100B','432f13bbaaa214bc','instructions_per_op','counted','standalone','[]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-0218b1db3b5ec81eef39a691bff610bf','get-100B','432f13bbaaa214bc','clock_readings_per_op','counted','standalone','[["hash-max-listpack-entries", "0"]]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-1606e663993c29382b71a6a527752382','get-100B','432f13bbaaa214bc','syscalls_per_op','counted','standalone','[["hash-max-listpack-entries", "0"]]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-b9dc2198a95b528855391753ccf8f34f','get-100B','432f13bbaaa214bc','allocations_per_op','counted','standalone','[["hash-max-listpack-entries", "0"]]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-c3daa642acf5c098fa7785d8ababc413','get-100B','432f13bbaaa214bc','instructions_alone_per_op','counted','standalone','[["hash-max-listpack-entries", "0"]]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-d2ffbf7f70581d6f354b38d623b871a7','get-100B','432f13bbaaa214bc','instructions_per_tick','counted','standalone','[["hash-max-listpack-entries", "0"]]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-e73d384bf30e75cfbf41a164d013534b','get-100B','432f13bbaaa214bc','instructions_per_op','counted','standalone','[["hash-max-listpack-entries", "0"]]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-02a47f0307647623fecca766a2bdcbaa','hset','7cab2cf969aad596','instructions_per_op','counted','standalone','[]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-085fd5e318509d6a66db0e7f04bbe3b7','hset','7cab2cf969aad596','clock_readings_per_op','counted','standalone','[]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-3d3d86ae0d47829fd8060919ef08ac65','hset','7cab2cf969aad596','allocations_per_op','counted','standalone','[]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-895a8b53c62a6cb0b7b8300c8e2be2f5','hset','7cab2cf969aad596','instructions_alone_per_op','counted','standalone','[]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-e693e5adc5f6962653481630d0342eca','hset','7cab2cf969aad596','syscalls_per_op','counted','standalone','[]','','9b4b2c8b1557be8c',2);
INSERT INTO series VALUES('s-fdaa9cb643ecfb52fdbe7d93363f294d','hset','7cab2cf969aad596','instructions_per_tick','counted','standalone','[]','','9b4b2c8b1557be8c',2);
CREATE TABLE comparison (
	number INTEGER NOT NULL, 
	id VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	created VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	base_build VARCHAR, 
	head_build VARCHAR NOT NULL, 
	platform_fingerprint VARCHAR NOT NULL, 
	document TEXT NOT NULL, 
	CONSTRAINT pk_comparison PRIMARY KEY (number), 
	CONSTRAINT ck_comparison_kind CHECK (kind IN ('compare', 'run')), 
	CONSTRAINT ck_comparison_state CHECK (state IN ('running', 'done', 'interrupted', 'failed')), 
	CONSTRAINT fk_comparison_platform_fingerprint FOREIGN KEY(platform_fingerprint) REFERENCES platform (fingerprint), 
	CONSTRAINT uq_comparison_id UNIQUE (id)
);
INSERT INTO comparison VALUES(1,'c-c310ec9d9de0bec4d4f3a7bd','compare','2026-11-23T10:45:47Z','done','b-5edb3c24e59223539c6b9b623fb0efaf','b-5edb3c24e59223539c6b9b623fb0efaf','9b4b2c8b1557be8c','{"schema": "zerolap.comparison/1", "id": "c-c310ec9d9de0bec4d4f3a7bd", "created": "2026-11-23T10:45:47Z", "command_line": "zerolap compare redis-server redis-server get-100B --quick --head-config hash-max-listpack-entries=0 --store s", "state": "done", "base": {"name": "redis-server", "commit": null, "version": "7.0.15", "build": "b-5edb3c24e59223539c6b9b623fb0efaf", "build_id": "a50d6825e71f1473372299161f75fe50e80452de", "flags": "", "compiler": "", "stripped": true, "variant": "", "allocator": "jemalloc-5.3.0", "architecture": "x86_64", "libc": "glibc 2.34", "config": {}}, "head": {"name": "redis-server", "commit": null, "version": "7.0.15", "build": "b-5edb3c24e59223539c6b9b623fb0efaf", "build_id": "a50d6825e71f1473372299161f75fe50e80452de", "flags": "", "compiler": "", "stripped": true, "variant": "", "allocator": "jemalloc-5.3.0", "architecture": "x86_64", "libc": "glibc 2.34", "config": {"hash-max-listpack-entries": "0"}}, "platform": {"name": "vm", "fingerprint": "9b4b2c8b1557be8c", "cpu": "AMD EPYC", "cores": 2, "kernel": "6.18.44", "facts": {"architecture": "x86_64", "cpu": "AMD EPYC", "processors": "[[0, 0, 0], [1, 1, 0]]", "memory_gib": "24", "virtualisation": "virtual machine, container", "microcode": "0x1000065", "kernel": "6.18.44", "libc": "glibc 2.36", "governor": "", "turbo": "", "huge_pages": "madvise", "huge_pages_defragmentation": "madvise", "clock_source": "tsc", "mitigations": "{\"gather_data_sampling\": \"Not affected\", \"ghostwrite\": \"Not affected\", \"indirect_target_selection\": \"Not affected\", \"itlb_multihit\": \"Not affected\", \"l1tf\": \"Not affected\", \"mds\": \"Not affected\", \"meltdown\": \"Not affected\", \"mmio_stale_data\": \"Not affected\", \"old_microcode\": \"Not affected\", \"reg_file_data_sampling\": \"Not affected\", \"retbleed\": \"Not affected\", \"spec_rstack_overflow\": \"Vulnerable: Safe RET, no microcode\", \"spec_store_bypass\": \"Vulnerable\", \"spectre_v1\": \"Mitigation: usercopy/swapgs barriers and __user pointer sanitization\", \"spectre_v2\": \"Mitigation: Retpolines; STIBP: disabled; RSB filling; PBRSB-eIBRS: Not affected; BHI: Not affected\", \"srbds\": \"Not affected\", \"tsa\": \"Not affected\", \"tsx_async_abort\": \"Not affected\", \"vmscape\": \"Not affected\"}", "address_randomisation": "2"}}, "settings": {"engines": ["counted"], "min_effect": {"counted": 0.005, "timed": 0.02}, "q": 0.01, "budget_seconds": null, "seed": 1, "quick": true, "load_policy": "lab", "load_tool": "zerolap-load", "level": 0.99, "equivalence_level": 0.05, "regression_rule": "interval beyond 0, estimate beyond the minimum effect", "look_shares": {"counted": {"5": 0.4941, "6": 0.1554, "7": 0.169, "8": 0.1815}, "timed": {"6": 0.068, "12": 0.1244, "18": 0.1611, "24": 0.1908, "36": 0.4557}}}, "summary": {"regression": 0, "improvement": 0, "same": 1, "unsure": 0, "invalid": 0, "machine_seconds": 40.30847411800005}, "notes": [], "cases": [], "skipped": []}');
INSERT INTO comparison VALUES(2,'r-66449b120288c0a0a8846729','run','2026-11-23T10:46:19Z','done',NULL,'b-5edb3c24e59223539c6b9b623fb0efaf','9b4b2c8b1557be8c','{"schema": "zerolap.run/1", "id": "r-66449b120288c0a0a8846729", "created": "2026-11-23T10:46:19Z", "command_line": "zerolap run hset --quick --store s", "server": {"name": "redis-server", "commit": null, "version": "7.0.15", "build": "b-5edb3c24e59223539c6b9b623fb0efaf", "build_id": "a50d6825e71f1473372299161f75fe50e80452de", "flags": "", "compiler": "", "stripped": true, "variant": "", "allocator": "jemalloc-5.3.0", "architecture": "x86_64", "libc": "glibc 2.34", "config": {}}, "platform": {"name": "vm", "fingerprint": "9b4b2c8b1557be8c", "cpu": "AMD EPYC", "cores": 2, "kernel": "6.18.44", "facts": {"architecture": "x86_64", "cpu": "AMD EPYC", "processors": "[[0, 0, 0], [1, 1, 0]]", "memory_gib": "24", "virtualisation": "virtual machine, container", "microcode": "0x1000065", "kernel": "6.18.44", "libc": "glibc 2.36", "governor": "", "turbo": "", "huge_pages": "madvise", "huge_pages_defragmentation": "madvise", "clock_source": "tsc", "mitigations": "{\"gather_data_sampling\": \"Not affected\", \"ghostwrite\": \"Not affected\", \"indirect_target_selection\": \"Not affected\", \"itlb_multihit\": \"Not affected\", \"l1tf\": \"Not affected\", \"mds\": \"Not affected\", \"meltdown\": \"Not affected\", \"mmio_stale_data\": \"Not affected\", \"old_microcode\": \"Not affected\", \"reg_file_data_sampling\": \"Not affected\", \"retbleed\": \"Not affected\", \"spec_rstack_overflow\": \"Vulnerable: Safe RET, no microcode\", \"spec_store_bypass\": \"Vulnerable\", \"spectre_v1\": \"Mitigation: usercopy/swapgs barriers and __user pointer sanitization\", \"spectre_v2\": \"Mitigation: Retpolines; STIBP: disabled; RSB filling; PBRSB-eIBRS: Not affected; BHI: Not affected\", \"srbds\": \"Not affected\", \"tsa\": \"Not affected\", \"tsx_async_abort\": \"Not affected\", \"vmscape\": \"Not affected\"}", "address_randomisation": "2"}}, "settings": {"engines": ["counted"], "min_effect": {"counted": 0.005, "timed": 0.02}, "q": 0.01, "budget_seconds": null, "seed": 1, "quick": true, "load_policy": "lab", "load_tool": "zerolap-load", "level": null, "equivalence_level": null, "regression_rule": null, "look_shares": null}, "machine_seconds": 8.639967733000049, "notes": [], "cases": [], "skipped": []}');
INSERT INTO comparison VALUES(3,'c-524a59cd45c8ab521962772d','compare','2026-11-23T10:47:02Z','done','b-5edb3c24e59223539c6b9b623fb0efaf','b-5edb3c24e59223539c6b9b623fb0efaf','9b4b2c8b1557be8c','{"schema": "zerolap.comparison/1", "id": "c-524a59cd45c8ab521962772d", "created": "2026-11-23T10:47:02Z", "command_line": "zerolap compare redis-server redis-server get-100B --quick --store s --platform all", "state": "done", "base": {"name": "redis-server", "commit": null, "version": "7.0.15", "build": "b-5edb3c24e59223539c6b9b623fb0efaf", "build_id": "a50d6825e71f1473372299161f75fe50e80452de", "flags": "", "compiler": "", "stripped": true, "variant": "", "allocator": "jemalloc-5.3.0", "architecture": "x86_64", "libc": "glibc 2.34", "config": {}}, "head": {"name": "redis-server", "commit": null, "version": "7.0.15", "build": "b-5edb3c24e59223539c6b9b623fb0efaf", "build_id": "a50d6825e71f1473372299161f75fe50e80452de", "flags": "", "compiler": "", "stripped": true, "variant": "", "allocator": "jemalloc-5.3.0", "architecture": "x86_64", "libc": "glibc 2.34", "config": {}}, "platform": {"name": "local", "fingerprint": "9b4b2c8b1557be8c", "cpu": "AMD EPYC", "cores": 2, "kernel": "6.18.44", "facts": {"architecture": "x86_64", "cpu": "AMD EPYC", "processors": "[[0, 0, 0], [1, 1, 0]]", "memory_gib": "24", "virtualisation": "virtual machine, container", "microcode": "0x1000065", "kernel": "6.18.44", "libc": "glibc 2.36", "governor": "", "turbo": "", "huge_pages": "madvise", "huge_pages_defragmentation": "madvise", "clock_source": "tsc", "mitigations": "{\"gather_data_sampling\": \"Not affected\", \"ghostwrite\": \"Not affected\", \"indirect_target_selection\": \"Not affected\", \"itlb_multihit\": \"Not affected\", \"l1tf\": \"Not affected\", \"mds\": \"Not affected\", \"meltdown\": \"Not affected\", \"mmio_stale_data\": \"Not affected\", \"old_microcode\": \"Not affected\", \"reg_file_data_sampling\": \"Not affected\", \"retbleed\": \"Not affected\", \"spec_rstack_overflow\": \"Vulnerable: Safe RET, no microcode\", \"spec_store_bypass\": \"Vulnerable\", \"spectre_v1\": \"Mitigation: usercopy/swapgs barriers and __user pointer sanitization\", \"spectre_v2\": \"Mitigation: Retpolines; STIBP: disabled; RSB filling; PBRSB-eIBRS: Not affected; BHI: Not affected\", \"srbds\": \"Not affected\", \"tsa\": \"Not affected\", \"tsx_async_abort\": \"Not affected\", \"vmscape\": \"Not affected\"}", "address_randomisation": "2"}}, "settings": {"engines": ["counted"], "min_effect": {"counted": 0.005, "timed": 0.02}, "q": 0.01, "budget_seconds": null, "seed": 1, "quick": true, "load_policy": "lab", "load_tool": "zerolap-load", "level": 0.99, "equivalence_level": 0.05, "regression_rule": "interval beyond 0, estimate beyond the minimum effect", "look_shares": {"counted": {"5": 0.4941, "6": 0.1554, "7": 0.169, "8": 0.1815}, "timed": {"6": 0.068, "12": 0.1244, "18": 0.1611, "24": 0.1908, "36": 0.4557}}}, "summary": {"regression": 0, "improvement": 0, "same": 1, "unsure": 0, "invalid": 0, "machine_seconds": 7.901803789000041}, "notes": [], "cases": [], "skipped": []}');
CREATE TABLE platform_facts (
	fingerprint VARCHAR NOT NULL, 
	digest VARCHAR NOT NULL, 
	kernel VARCHAR NOT NULL, 
	facts TEXT NOT NULL, 
	first_seen VARCHAR NOT NULL, 
	CONSTRAINT pk_platform_facts PRIMARY KEY (fingerprint, digest), 
	CONSTRAINT fk_platform_facts_fingerprint FOREIGN KEY(fingerprint) REFERENCES platform (fingerprint) ON DELETE CASCADE
);
INSERT INTO platform_facts VALUES('9b4b2c8b1557be8c','c1e5da2742b256281169517e9452e43d','6.18.44','{"address_randomisation": "2", "architecture": "x86_64", "clock_source": "tsc", "cpu": "AMD EPYC", "governor": "", "huge_pages": "madvise", "huge_pages_defragmentation": "madvise", "kernel": "6.18.44", "libc": "glibc 2.36", "memory_gib": "24", "microcode": "0x1000065", "mitigations": "{\"gather_data_sampling\": \"Not affected\", \"ghostwrite\": \"Not affected\", \"indirect_target_selection\": \"Not affected\", \"itlb_multihit\": \"Not affected\", \"l1tf\": \"Not affected\", \"mds\": \"Not affected\", \"meltdown\": \"Not affected\", \"mmio_stale_data\": \"Not affected\", \"old_microcode\": \"Not affected\", \"reg_file_data_sampling\": \"Not affected\", \"retbleed\": \"Not affected\", \"spec_rstack_overflow\": \"Vulnerable: Safe RET, no microcode\", \"spec_store_bypass\": \"Vulnerable\", \"spectre_v1\": \"Mitigation: usercopy/swapgs barriers and __user pointer sanitization\", \"spectre_v2\": \"Mitigation: Retpolines; STIBP: disabled; RSB filling; PBRSB-eIBRS: Not affected; BHI: Not affected\", \"srbds\": \"Not affected\", \"tsa\": \"Not affected\", \"tsx_async_abort\": \"Not affected\", \"vmscape\": \"Not affected\"}", "processors": "[[0, 0, 0], [1, 1, 0]]", "turbo": "", "virtualisation": "virtual machine, container"}','2026-11-23T10:45:47+00:00');
CREATE TABLE request (
	number INTEGER NOT NULL, 
	id VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	digest VARCHAR NOT NULL, 
	created VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	cancelled BOOLEAN NOT NULL, 
	priority INTEGER NOT NULL, 
	platform_fingerprint VARCHAR NOT NULL, 
	servers TEXT, 
	document TEXT, 
	CONSTRAINT pk_request PRIMARY KEY (number), 
	CONSTRAINT ck_request_kind CHECK (kind IN ('compare', 'run')), 
	CONSTRAINT ck_request_state CHECK (state IN ('running', 'done', 'interrupted', 'failed')), 
	CONSTRAINT fk_request_platform_fingerprint FOREIGN KEY(platform_fingerprint) REFERENCES platform (fingerprint), 
	CONSTRAINT uq_request_id UNIQUE (id)
);
INSERT INTO request VALUES(1,'c-c310ec9d9de0bec4d4f3a7bd','compare','c876c764d688e00562bcb39846b3bf0b','2026-11-23T10:45:47Z','done',0,0,'9b4b2c8b1557be8c','{"base": {"variant": ""}, "head": {"variant": ""}}','{"schema":"zerolap.request/1","id":"c-c310ec9d9de0bec4d4f3a7bd","kind":"compare","created":"2026-11-23T10:45:47Z","command_line":"zerolap compare redis-server redis-server get-100B --quick --head-config hash-max-listpack-entries=0 --store s","servers":{"base":{"source":{"kind":"binary","name":"redis-server","path":"/usr/bin/redis-server","arguments":[]},"variant":"default","spec":{"content":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","variant":"","recipe":0,"tools":[],"arguments":[]},"config":{}},"head":{"source":{"kind":"binary","name":"redis-server","path":"/usr/bin/redis-server","arguments":[]},"variant":"default","spec":{"content":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","variant":"","recipe":0,"tools":[],"arguments":[]},"config":{"hash-max-listpack-entries":"0"}}},"cases":[{"name":"get-100B","description":"Reads strings of 100 bytes (raw encoding) out of 16,000 keys.","group":"string","commands":["GET __key__"],"ratios":[1],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"random"},"data_size":100,"random_data":false,"connections":20,"pipeline":16,"state":"stable","setup":[],"dataset":{"name":"strings-100B","setup":[],"load":["SET __key__ __data__"],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"parallel"},"data_size":100,"random_data":false,"generator":null,"clients":[],"after_load":[],"expect":{"reply":"status","errors":0,"hit_rate":null,"keys":1600}},"expect":{"reply":"bulk","errors":0,"hit_rate":">= 0.99","keys":null},"topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{},"client":null,"companions":[],"groups":[],"topologies":[],"memory_bytes":null,"priority":null,"cannot_run":null,"warnings":[],"limits":[],"file":"/work/old/python/zerolap/cases/suites/core.yml","line":82}],"settings":{"engines":["counted"],"min_effect":{"counted":0.005,"timed":0.02},"q":0.01,"budget_seconds":null,"seed":1,"quick":true,"load_policy":"lab","load_tool":"zerolap-load","level":null,"equivalence_level":null,"regression_rule":null,"look_shares":null},"platform":{"name":"vm","fingerprint":"9b4b2c8b1557be8c","cpu":"AMD EPYC","cores":2,"kernel":"6.18.44","facts":{"architecture":"x86_64","cpu":"AMD EPYC","processors":"[[0, 0, 0], [1, 1, 0]]","memory_gib":"24","virtualisation":"virtual machine, container","microcode":"0x1000065","kernel":"6.18.44","libc":"glibc 2.36","governor":"","turbo":"","huge_pages":"madvise","huge_pages_defragmentation":"madvise","clock_source":"tsc","mitigations":"{\"gather_data_sampling\": \"Not affected\", \"ghostwrite\": \"Not affected\", \"indirect_target_selection\": \"Not affected\", \"itlb_multihit\": \"Not affected\", \"l1tf\": \"Not affected\", \"mds\": \"Not affected\", \"meltdown\": \"Not affected\", \"mmio_stale_data\": \"Not affected\", \"old_microcode\": \"Not affected\", \"reg_file_data_sampling\": \"Not affected\", \"retbleed\": \"Not affected\", \"spec_rstack_overflow\": \"Vulnerable: Safe RET, no microcode\", \"spec_store_bypass\": \"Vulnerable\", \"spectre_v1\": \"Mitigation: usercopy/swapgs barriers and __user pointer sanitization\", \"spectre_v2\": \"Mitigation: Retpolines; STIBP: disabled; RSB filling; PBRSB-eIBRS: Not affected; BHI: Not affected\", \"srbds\": \"Not affected\", \"tsa\": \"Not affected\", \"tsx_async_abort\": \"Not affected\", \"vmscape\": \"Not affected\"}","address_randomisation":"2"}},"all_stacks":false,"skipped":[],"notes":[],"platforms":[],"priority":0,"trigger":"command line"}');
INSERT INTO request VALUES(2,'r-66449b120288c0a0a8846729','run','c98431ac93ee3817ee4000e8b0975a53','2026-11-23T10:46:19Z','done',0,0,'9b4b2c8b1557be8c','{"head": {"variant": ""}}','{"schema":"zerolap.request/1","id":"r-66449b120288c0a0a8846729","kind":"run","created":"2026-11-23T10:46:19Z","command_line":"zerolap run hset --quick --store s","servers":{"head":{"source":{"kind":"binary","name":"redis-server","path":"/usr/bin/redis-server","arguments":[]},"variant":"default","spec":{"content":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","variant":"","recipe":0,"tools":[],"arguments":[]},"config":{}}},"cases":[{"name":"hset","description":"Overwrites one field of 20 bytes in hashes of 20 fields (listpack encoding).","group":"hash","commands":["HSET __key__ field:13 __data__"],"ratios":[1],"keys":{"prefix":"user:","minimum":1,"maximum":410,"pattern":"random"},"data_size":20,"random_data":false,"connections":20,"pipeline":16,"state":"stable","setup":[],"dataset":{"name":"hashes-20-fields","setup":[],"load":["HSET __key__ field:01 __data__ field:02 __data__ field:03 __data__ field:04 __data__ field:05 __data__ field:06 __data__ field:07 __data__ field:08 __data__ field:09 __data__ field:10 __data__ field:11 __data__ field:12 __data__ field:13 __data__ field:14 __data__ field:15 __data__ field:16 __data__ field:17 __data__ field:18 __data__ field:19 __data__ field:20 __data__"],"keys":{"prefix":"user:","minimum":1,"maximum":410,"pattern":"parallel"},"data_size":20,"random_data":false,"generator":null,"clients":[],"after_load":[],"expect":{"reply":"integer","errors":0,"hit_rate":null,"keys":410}},"expect":{"reply":"integer","errors":0,"hit_rate":null,"keys":null},"topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{},"client":null,"companions":[],"groups":[],"topologies":[],"memory_bytes":null,"priority":null,"cannot_run":null,"warnings":[],"limits":[],"file":"/work/old/python/zerolap/cases/suites/core.yml","line":89}],"settings":{"engines":["counted"],"min_effect":{"counted":0.005,"timed":0.02},"q":0.01,"budget_seconds":null,"seed":1,"quick":true,"load_policy":"lab","load_tool":"zerolap-load","level":null,"equivalence_level":null,"regression_rule":null,"look_shares":null},"platform":{"name":"vm","fingerprint":"9b4b2c8b1557be8c","cpu":"AMD EPYC","cores":2,"kernel":"6.18.44","facts":{"architecture":"x86_64","cpu":"AMD EPYC","processors":"[[0, 0, 0], [1, 1, 0]]","memory_gib":"24","virtualisation":"virtual machine, container","microcode":"0x1000065","kernel":"6.18.44","libc":"glibc 2.36","governor":"","turbo":"","huge_pages":"madvise","huge_pages_defragmentation":"madvise","clock_source":"tsc","mitigations":"{\"gather_data_sampling\": \"Not affected\", \"ghostwrite\": \"Not affected\", \"indirect_target_selection\": \"Not affected\", \"itlb_multihit\": \"Not affected\", \"l1tf\": \"Not affected\", \"mds\": \"Not affected\", \"meltdown\": \"Not affected\", \"mmio_stale_data\": \"Not affected\", \"old_microcode\": \"Not affected\", \"reg_file_data_sampling\": \"Not affected\", \"retbleed\": \"Not affected\", \"spec_rstack_overflow\": \"Vulnerable: Safe RET, no microcode\", \"spec_store_bypass\": \"Vulnerable\", \"spectre_v1\": \"Mitigation: usercopy/swapgs barriers and __user pointer sanitization\", \"spectre_v2\": \"Mitigation: Retpolines; STIBP: disabled; RSB filling; PBRSB-eIBRS: Not affected; BHI: Not affected\", \"srbds\": \"Not affected\", \"tsa\": \"Not affected\", \"tsx_async_abort\": \"Not affected\", \"vmscape\": \"Not affected\"}","address_randomisation":"2"}},"all_stacks":false,"skipped":[],"notes":[],"platforms":[],"priority":0,"trigger":"command line"}');
INSERT INTO request VALUES(3,'c-524a59cd45c8ab521962772d','compare','81a9767548001946ccecbb757fc9ad8f','2026-11-23T10:47:02Z','done',0,0,'9b4b2c8b1557be8c','{"base": {"variant": ""}, "head": {"variant": ""}}','{"schema":"zerolap.request/1","id":"c-524a59cd45c8ab521962772d","kind":"compare","created":"2026-11-23T10:47:02Z","command_line":"zerolap compare redis-server redis-server get-100B --quick --store s --platform all","servers":{"base":{"source":{"kind":"archive","name":"redis-server","form":"program","content":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","archive":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","revision":null,"arguments":[]},"variant":"default","spec":{"content":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","variant":"","recipe":0,"tools":[],"arguments":[]},"config":{}},"head":{"source":{"kind":"archive","name":"redis-server","form":"program","content":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","archive":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","revision":null,"arguments":[]},"variant":"default","spec":{"content":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","variant":"","recipe":0,"tools":[],"arguments":[]},"config":{}}},"cases":[{"name":"get-100B","description":"Reads strings of 100 bytes (raw encoding) out of 16,000 keys.","group":"string","commands":["GET __key__"],"ratios":[1],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"random"},"data_size":100,"random_data":false,"connections":20,"pipeline":16,"state":"stable","setup":[],"dataset":{"name":"strings-100B","setup":[],"load":["SET __key__ __data__"],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"parallel"},"data_size":100,"random_data":false,"generator":null,"clients":[],"after_load":[],"expect":{"reply":"status","errors":0,"hit_rate":null,"keys":1600}},"expect":{"reply":"bulk","errors":0,"hit_rate":">= 0.99","keys":null},"topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{},"client":null,"companions":[],"groups":[],"topologies":[],"memory_bytes":null,"priority":null,"cannot_run":null,"warnings":[],"limits":[],"file":"/work/old/python/zerolap/cases/suites/core.yml","line":82}],"settings":{"engines":["counted"],"min_effect":{"counted":0.005,"timed":0.02},"q":0.01,"budget_seconds":null,"seed":1,"quick":true,"load_policy":"lab","load_tool":"zerolap-load","level":null,"equivalence_level":null,"regression_rule":null,"look_shares":null},"platform":{"name":"local","fingerprint":"9b4b2c8b1557be8c","cpu":"AMD EPYC","cores":2,"kernel":"6.18.44","facts":{"architecture":"x86_64","cpu":"AMD EPYC","processors":"[[0, 0, 0], [1, 1, 0]]","memory_gib":"24","virtualisation":"virtual machine, container","microcode":"0x1000065","kernel":"6.18.44","libc":"glibc 2.36","governor":"","turbo":"","huge_pages":"madvise","huge_pages_defragmentation":"madvise","clock_source":"tsc","mitigations":"{\"gather_data_sampling\": \"Not affected\", \"ghostwrite\": \"Not affected\", \"indirect_target_selection\": \"Not affected\", \"itlb_multihit\": \"Not affected\", \"l1tf\": \"Not affected\", \"mds\": \"Not affected\", \"meltdown\": \"Not affected\", \"mmio_stale_data\": \"Not affected\", \"old_microcode\": \"Not affected\", \"reg_file_data_sampling\": \"Not affected\", \"retbleed\": \"Not affected\", \"spec_rstack_overflow\": \"Vulnerable: Safe RET, no microcode\", \"spec_store_bypass\": \"Vulnerable\", \"spectre_v1\": \"Mitigation: usercopy/swapgs barriers and __user pointer sanitization\", \"spectre_v2\": \"Mitigation: Retpolines; STIBP: disabled; RSB filling; PBRSB-eIBRS: Not affected; BHI: Not affected\", \"srbds\": \"Not affected\", \"tsa\": \"Not affected\", \"tsx_async_abort\": \"Not affected\", \"vmscape\": \"Not affected\"}","address_randomisation":"2"}},"all_stacks":false,"skipped":[],"notes":[],"platforms":["local"],"priority":0,"trigger":"command line"}');
CREATE TABLE revision_build (
	repository VARCHAR NOT NULL, 
	"commit" VARCHAR NOT NULL, 
	build VARCHAR NOT NULL, 
	CONSTRAINT pk_revision_build PRIMARY KEY (repository, "commit", build), 
	CONSTRAINT fk_revision_build_build FOREIGN KEY(build) REFERENCES build (build) ON DELETE CASCADE, 
	CONSTRAINT fk_revision_build_repository_commit FOREIGN KEY(repository, "commit") REFERENCES revision (repository, "commit") ON DELETE CASCADE
);
CREATE TABLE revision_parent (
	repository VARCHAR NOT NULL, 
	"commit" VARCHAR NOT NULL, 
	position INTEGER NOT NULL, 
	parent VARCHAR NOT NULL, 
	CONSTRAINT pk_revision_parent PRIMARY KEY (repository, "commit", position), 
	CONSTRAINT fk_revision_parent_repository_commit FOREIGN KEY(repository, "commit") REFERENCES revision (repository, "commit") ON DELETE CASCADE
);
CREATE TABLE case_result (
	id INTEGER NOT NULL, 
	comparison_id VARCHAR NOT NULL, 
	position INTEGER NOT NULL, 
	"case" VARCHAR NOT NULL, 
	"group" VARCHAR NOT NULL, 
	topology VARCHAR NOT NULL, 
	verdict VARCHAR, 
	deciding VARCHAR, 
	confirmed BOOLEAN, 
	valid BOOLEAN NOT NULL, 
	digest VARCHAR NOT NULL, 
	document TEXT NOT NULL, 
	CONSTRAINT pk_case_result PRIMARY KEY (id), 
	CONSTRAINT fk_case_result_comparison_id FOREIGN KEY(comparison_id) REFERENCES comparison (id) ON DELETE CASCADE, 
	CONSTRAINT uq_case_result_comparison_id_case UNIQUE (comparison_id, "case")
);
INSERT INTO case_result VALUES(1,'c-c310ec9d9de0bec4d4f3a7bd',0,'get-100B','string','standalone','same','instructions_per_op',0,1,'78a4d8de6448097058fc86719f05324a4adc27b9ca7910eba98759f07bd7c15a','{"case": "get-100B", "commands": ["GET"], "group": "string", "topology": "standalone", "verdict": "same", "work": "same", "time": null, "deciding": "instructions_per_op", "work_deciding": "instructions_per_op", "time_deciding": null, "confirmed": false, "validity": {"valid": true, "checks": [{"check": "keys", "ok": true, "value": 1600.0, "limit": "= 1600"}, {"check": "clock_pinned", "ok": true, "value": 575.0, "limit": "> 0 readings"}, {"check": "randomness_pinned", "ok": true, "value": 5.0, "limit": "> 0 readings"}, {"check": "errors", "ok": true, "value": 0.0, "limit": "<= 0"}, {"check": "hit_rate", "ok": true, "value": 1.0, "limit": ">= 0.99"}, {"check": "reply", "ok": true, "value": 1.0, "limit": "all bulk"}, {"check": "executed", "ok": true, "value": 256.0, "limit": "= 256"}]}, "verdicts": [{"metric": "instructions_per_op", "engine": "counted", "verdict": "same", "base": 3510.8612500000004, "head": 3507.56125, "change": -0.0009342324026856849, "low": -0.0035409213308798555, "high": 0.0016792754981224387, "q": null, "samples": 5, "pairs": 5, "min_effect": 0.005, "detectable": 0.0057293296814858105}, {"metric": "allocations_per_op", "engine": "counted", "verdict": "same", "base": 3.0625, "head": 3.0625, "change": 0.0, "low": -0.0005021775055999054, "high": 0.0005024298145509156, "q": null, "samples": 5, "pairs": 5, "min_effect": 0.005, "detectable": 0.0051375828233009265}, {"metric": "syscalls_per_op", "engine": "counted", "verdict": "same", "base": 0.1875, "head": 0.1875, "change": 0.0, "low": -0.0005023036263373462, "high": 0.0005023036515682408, "q": null, "samples": 5, "pairs": 5, "min_effect": 0.05333333333333334, "detectable": 0.053470467516289547}, {"metric": "clock_readings_per_op", "engine": "counted", "verdict": "same", "base": 2.22007722007722, "head": 2.22007722007722, "change": 0.0, "low": -0.0005021775055999054, "high": 0.0005024298145509156, "q": null, "samples": 5, "pairs": 5, "min_effect": 0.005, "detectable": 0.0051375828233009265}, {"metric": "instructions_alone_per_op", "engine": "counted", "verdict": "same", "base": 4991.566666666667, "head": 4996.0666666666675, "change": 0.0008969927144891701, "low": -0.0021653214820910108, "high": 0.003968705029255126, "q": null, "samples": 5, "pairs": 5, "min_effect": 0.005, "detectable": 0.005848849943065301}, {"metric": "instructions_per_tick", "engine": "counted", "verdict": "same", "base": 67600.0, "head": 68000.0, "change": 0.005916574191584379, "low": -0.014430734227460329, "high": 0.02626392376844709, "q": null, "samples": 5, "pairs": 5, "min_effect": 1.4792899408284024, "detectable": 1.4848450247097542}], "findings": [{"kind": "identity", "rank": 1, "function": null, "file": null, "lines": null, "instructions_per_op": null, "self_instructions_per_op": null, "calls_per_op": null, "cpu_ns_per_op": null, "self_cpu_ns_per_op": null, "share_of_change": null, "in_diff": null, "carrier": null, "callers": [], "text": "Whether the executed instructions are the same is unknown: the sides have other settings."}], "failure": null}');
INSERT INTO case_result VALUES(2,'r-66449b120288c0a0a8846729',0,'hset','hash','standalone',NULL,NULL,NULL,1,'089b226b2afabadb7f3fbe332501e6a2210db234e8258ce4889970d62548c0a3','{"case": "hset", "commands": ["HSET"], "group": "hash", "topology": "standalone", "validity": {"valid": true, "checks": [{"check": "keys", "ok": true, "value": 410.0, "limit": "= 410"}, {"check": "clock_pinned", "ok": true, "value": 435.0, "limit": "> 0 readings"}, {"check": "randomness_pinned", "ok": true, "value": 5.0, "limit": "> 0 readings"}, {"check": "errors", "ok": true, "value": 0.0, "limit": "<= 0"}, {"check": "reply", "ok": true, "value": 1.0, "limit": "all integer"}, {"check": "executed", "ok": true, "value": 192.0, "limit": "= 192"}]}, "metrics": {"instructions_per_op": 6294.6484375, "syscalls_per_op": 0.1875, "clock_readings_per_op": 2.230769230769231, "instructions_per_tick": 68000.0, "instructions_alone_per_op": 7810.833333333333, "allocations_per_op": 5.0625}, "functions": [{"function": "lpFind", "file": null, "self_instructions_per_op": 881.0, "calls_per_op": 1.0, "self_cpu_ns_per_op": null, "share": 0.13996015960978758}, {"function": "processMultibulkBuffer", "file": null, "self_instructions_per_op": 481.0, "calls_per_op": 1.0, "self_cpu_ns_per_op": null, "share": 0.0764141166541519}, {"function": "malloc_usable_size", "file": null, "self_instructions_per_op": 405.0, "calls_per_op": 10.125, "self_cpu_ns_per_op": null, "share": 0.06434036849258112}, {"function": "0x000000000012e2a0", "file": null, "self_instructions_per_op": 403.0, "calls_per_op": 13.0, "self_cpu_ns_per_op": null, "share": 0.06402263827780294}, {"function": "__memcmp_avx2_movbe", "file": "string/../sysdeps/x86_64/multiarch/memcmp-avx2-movbe.S", "self_instructions_per_op": 293.484375, "calls_per_op": 14.328125, "self_cpu_ns_per_op": null, "share": 0.04662442675139472}, {"function": "call", "file": null, "self_instructions_per_op": 261.0, "calls_per_op": 1.0, "self_cpu_ns_per_op": null, "share": 0.04146379302855228}, {"function": "createEmbeddedStringObject", "file": null, "self_instructions_per_op": 192.0, "calls_per_op": 4.0, "self_cpu_ns_per_op": null, "share": 0.030502100618705126}, {"function": "free", "file": null, "self_instructions_per_op": 186.703125, "calls_per_op": 5.0625, "self_cpu_ns_per_op": null, "share": 0.029660612003003545}, {"function": "processCommand", "file": null, "self_instructions_per_op": 180.0, "calls_per_op": 1.0, "self_cpu_ns_per_op": null, "share": 0.028595719330036056}, {"function": "string2ll", "file": null, "self_instructions_per_op": 157.0, "calls_per_op": 5.0, "self_cpu_ns_per_op": null, "share": 0.024941821860087005}], "samples": 1, "limits": [], "failure": null}');
INSERT INTO case_result VALUES(3,'c-524a59cd45c8ab521962772d',0,'get-100B','string','standalone','same','instructions_per_op',0,1,'9b074d3d91e728a887fa387e2ab2be3e2d88470a917ad15ce6bb584742eaeb2c','{"case": "get-100B", "commands": ["GET"], "group": "string", "topology": "standalone", "verdict": "same", "work": "identical", "time": null, "deciding": "instructions_per_op", "work_deciding": "instructions_per_op", "time_deciding": null, "confirmed": false, "validity": {"valid": true, "checks": [{"check": "keys", "ok": true, "value": 1600.0, "limit": "= 1600"}, {"check": "clock_pinned", "ok": true, "value": 575.0, "limit": "> 0 readings"}, {"check": "randomness_pinned", "ok": true, "value": 5.0, "limit": "> 0 readings"}, {"check": "errors", "ok": true, "value": 0.0, "limit": "<= 0"}, {"check": "hit_rate", "ok": true, "value": 1.0, "limit": ">= 0.99"}, {"check": "reply", "ok": true, "value": 1.0, "limit": "all bulk"}, {"check": "executed", "ok": true, "value": 256.0, "limit": "= 256"}]}, "verdicts": [{"metric": "instructions_per_op", "engine": "counted", "verdict": "identical", "base": 3498.2812500000005, "head": 3498.2812500000005, "change": 0.0, "low": -0.0002, "high": 0.0002, "q": null, "samples": 1, "pairs": 1, "min_effect": 0.005, "detectable": 0.0002}, {"metric": "allocations_per_op", "engine": "counted", "verdict": "same", "base": 3.0625, "head": 3.0625, "change": 0.0, "low": -0.0002, "high": 0.0002, "q": null, "samples": 1, "pairs": 1, "min_effect": 0.005, "detectable": 0.0002}, {"metric": "syscalls_per_op", "engine": "counted", "verdict": "same", "base": 0.1875, "head": 0.1875, "change": 0.0, "low": -0.0002, "high": 0.0002, "q": null, "samples": 1, "pairs": 1, "min_effect": 0.005, "detectable": 0.0002}, {"metric": "clock_readings_per_op", "engine": "counted", "verdict": "same", "base": 2.22007722007722, "head": 2.22007722007722, "change": 0.0, "low": -0.0002, "high": 0.0002, "q": null, "samples": 1, "pairs": 1, "min_effect": 0.005, "detectable": 0.0002}, {"metric": "instructions_alone_per_op", "engine": "counted", "verdict": "same", "base": 4967.4375, "head": 4967.4375, "change": 0.0, "low": -0.0002, "high": 0.0002, "q": null, "samples": 1, "pairs": 1, "min_effect": 0.005, "detectable": 0.0002}, {"metric": "instructions_per_tick", "engine": "counted", "verdict": "same", "base": 68000.0, "head": 68000.0, "change": 0.0, "low": -0.0002, "high": 0.0002, "q": null, "samples": 1, "pairs": 1, "min_effect": 0.005, "detectable": 0.0002}], "findings": [{"kind": "identity", "rank": 1, "function": null, "file": null, "lines": null, "instructions_per_op": null, "self_instructions_per_op": null, "calls_per_op": null, "cpu_ns_per_op": null, "self_cpu_ns_per_op": null, "share_of_change": null, "in_diff": null, "carrier": null, "callers": [], "text": "Identical: the programs are the same to the byte, but for notes such as the build id."}], "failure": null}');
CREATE TABLE job (
	number INTEGER NOT NULL, 
	id VARCHAR NOT NULL, 
	request_id VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	"case" VARCHAR, 
	engine VARCHAR, 
	per_second INTEGER, 
	document TEXT, 
	failure TEXT, 
	log VARCHAR, 
	finished TEXT, 
	CONSTRAINT pk_job PRIMARY KEY (number), 
	CONSTRAINT ck_job_kind CHECK (kind IN ('build', 'trials')), 
	CONSTRAINT fk_job_request_id FOREIGN KEY(request_id) REFERENCES request (id) ON DELETE CASCADE, 
	CONSTRAINT uq_job_id UNIQUE (id)
);
INSERT INTO job VALUES(1,'j-358c246149455691c247045c84efebcf','c-c310ec9d9de0bec4d4f3a7bd','trials','get-100B','counted',NULL,'{"schema":"zerolap.job/1","kind":"trials","request":"c-c310ec9d9de0bec4d4f3a7bd","case":{"name":"get-100B","description":"Reads strings of 100 bytes (raw encoding) out of 16,000 keys.","group":"string","commands":["GET __key__"],"ratios":[1],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"random"},"data_size":100,"random_data":false,"connections":20,"pipeline":16,"state":"stable","setup":[],"dataset":{"name":"strings-100B","setup":[],"load":["SET __key__ __data__"],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"parallel"},"data_size":100,"random_data":false,"generator":null,"clients":[],"after_load":[],"expect":{"reply":"status","errors":0,"hit_rate":null,"keys":1600}},"expect":{"reply":"bulk","errors":0,"hit_rate":">= 0.99","keys":null},"topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{},"client":null,"companions":[],"groups":[],"topologies":[],"memory_bytes":null,"priority":null,"cannot_run":null,"warnings":[],"limits":[],"file":"","line":0},"servers":{"base":{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{}},"head":{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{"hash-max-listpack-entries":"0"}}},"engine":"counted","blocks":[{"number":0,"seed":1000}],"amounts":{"windows":null,"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false},"load_tool":null,"seconds_left":null}',NULL,NULL,'{"schema":"zerolap.event/1","event":"finished","job":"j-358c246149455691c247045c84efebcf","cut_short":false}');
INSERT INTO job VALUES(2,'j-78df44933f844fed7c94e729e0c543b3','c-c310ec9d9de0bec4d4f3a7bd','trials','get-100B','counted',NULL,'{"schema":"zerolap.job/1","kind":"trials","request":"c-c310ec9d9de0bec4d4f3a7bd","case":{"name":"get-100B","description":"Reads strings of 100 bytes (raw encoding) out of 16,000 keys.","group":"string","commands":["GET __key__"],"ratios":[1],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"random"},"data_size":100,"random_data":false,"connections":20,"pipeline":16,"state":"stable","setup":[],"dataset":{"name":"strings-100B","setup":[],"load":["SET __key__ __data__"],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"parallel"},"data_size":100,"random_data":false,"generator":null,"clients":[],"after_load":[],"expect":{"reply":"status","errors":0,"hit_rate":null,"keys":1600}},"expect":{"reply":"bulk","errors":0,"hit_rate":">= 0.99","keys":null},"topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{},"client":null,"companions":[],"groups":[],"topologies":[],"memory_bytes":null,"priority":null,"cannot_run":null,"warnings":[],"limits":[],"file":"","line":0},"servers":{"base":{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{}},"head":{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{"hash-max-listpack-entries":"0"}}},"engine":"counted","blocks":[{"number":1,"seed":1001}],"amounts":{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false},"load_tool":null,"seconds_left":null}',NULL,NULL,'{"schema":"zerolap.event/1","event":"finished","job":"j-78df44933f844fed7c94e729e0c543b3","cut_short":false}');
INSERT INTO job VALUES(3,'j-51f4b0247b06d7b8f90a977f9050f694','c-c310ec9d9de0bec4d4f3a7bd','trials','get-100B','counted',NULL,'{"schema":"zerolap.job/1","kind":"trials","request":"c-c310ec9d9de0bec4d4f3a7bd","case":{"name":"get-100B","description":"Reads strings of 100 bytes (raw encoding) out of 16,000 keys.","group":"string","commands":["GET __key__"],"ratios":[1],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"random"},"data_size":100,"random_data":false,"connections":20,"pipeline":16,"state":"stable","setup":[],"dataset":{"name":"strings-100B","setup":[],"load":["SET __key__ __data__"],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"parallel"},"data_size":100,"random_data":false,"generator":null,"clients":[],"after_load":[],"expect":{"reply":"status","errors":0,"hit_rate":null,"keys":1600}},"expect":{"reply":"bulk","errors":0,"hit_rate":">= 0.99","keys":null},"topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{},"client":null,"companions":[],"groups":[],"topologies":[],"memory_bytes":null,"priority":null,"cannot_run":null,"warnings":[],"limits":[],"file":"","line":0},"servers":{"base":{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{}},"head":{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{"hash-max-listpack-entries":"0"}}},"engine":"counted","blocks":[{"number":2,"seed":1002}],"amounts":{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false},"load_tool":null,"seconds_left":null}',NULL,NULL,'{"schema":"zerolap.event/1","event":"finished","job":"j-51f4b0247b06d7b8f90a977f9050f694","cut_short":false}');
INSERT INTO job VALUES(4,'j-f64c5a8a07bf8ebe757f38a5e85d80fc','c-c310ec9d9de0bec4d4f3a7bd','trials','get-100B','counted',NULL,'{"schema":"zerolap.job/1","kind":"trials","request":"c-c310ec9d9de0bec4d4f3a7bd","case":{"name":"get-100B","description":"Reads strings of 100 bytes (raw encoding) out of 16,000 keys.","group":"string","commands":["GET __key__"],"ratios":[1],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"random"},"data_size":100,"random_data":false,"connections":20,"pipeline":16,"state":"stable","setup":[],"dataset":{"name":"strings-100B","setup":[],"load":["SET __key__ __data__"],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"parallel"},"data_size":100,"random_data":false,"generator":null,"clients":[],"after_load":[],"expect":{"reply":"status","errors":0,"hit_rate":null,"keys":1600}},"expect":{"reply":"bulk","errors":0,"hit_rate":">= 0.99","keys":null},"topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{},"client":null,"companions":[],"groups":[],"topologies":[],"memory_bytes":null,"priority":null,"cannot_run":null,"warnings":[],"limits":[],"file":"","line":0},"servers":{"base":{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{}},"head":{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{"hash-max-listpack-entries":"0"}}},"engine":"counted","blocks":[{"number":3,"seed":1003}],"amounts":{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false},"load_tool":null,"seconds_left":null}',NULL,NULL,'{"schema":"zerolap.event/1","event":"finished","job":"j-f64c5a8a07bf8ebe757f38a5e85d80fc","cut_short":false}');
INSERT INTO job VALUES(5,'j-d2b336249ca5688141b79898ea4473ff','c-c310ec9d9de0bec4d4f3a7bd','trials','get-100B','counted',NULL,'{"schema":"zerolap.job/1","kind":"trials","request":"c-c310ec9d9de0bec4d4f3a7bd","case":{"name":"get-100B","description":"Reads strings of 100 bytes (raw encoding) out of 16,000 keys.","group":"string","commands":["GET __key__"],"ratios":[1],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"random"},"data_size":100,"random_data":false,"connections":20,"pipeline":16,"state":"stable","setup":[],"dataset":{"name":"strings-100B","setup":[],"load":["SET __key__ __data__"],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"parallel"},"data_size":100,"random_data":false,"generator":null,"clients":[],"after_load":[],"expect":{"reply":"status","errors":0,"hit_rate":null,"keys":1600}},"expect":{"reply":"bulk","errors":0,"hit_rate":">= 0.99","keys":null},"topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{},"client":null,"companions":[],"groups":[],"topologies":[],"memory_bytes":null,"priority":null,"cannot_run":null,"warnings":[],"limits":[],"file":"","line":0},"servers":{"base":{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{}},"head":{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{"hash-max-listpack-entries":"0"}}},"engine":"counted","blocks":[{"number":4,"seed":1004}],"amounts":{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false},"load_tool":null,"seconds_left":null}',NULL,NULL,'{"schema":"zerolap.event/1","event":"finished","job":"j-d2b336249ca5688141b79898ea4473ff","cut_short":false}');
INSERT INTO job VALUES(6,'j-20fd6de4acd2efaa1564a0502c1f97ad','r-66449b120288c0a0a8846729','trials','hset','counted',NULL,'{"schema":"zerolap.job/1","kind":"trials","request":"r-66449b120288c0a0a8846729","case":{"name":"hset","description":"Overwrites one field of 20 bytes in hashes of 20 fields (listpack encoding).","group":"hash","commands":["HSET __key__ field:13 __data__"],"ratios":[1],"keys":{"prefix":"user:","minimum":1,"maximum":410,"pattern":"random"},"data_size":20,"random_data":false,"connections":20,"pipeline":16,"state":"stable","setup":[],"dataset":{"name":"hashes-20-fields","setup":[],"load":["HSET __key__ field:01 __data__ field:02 __data__ field:03 __data__ field:04 __data__ field:05 __data__ field:06 __data__ field:07 __data__ field:08 __data__ field:09 __data__ field:10 __data__ field:11 __data__ field:12 __data__ field:13 __data__ field:14 __data__ field:15 __data__ field:16 __data__ field:17 __data__ field:18 __data__ field:19 __data__ field:20 __data__"],"keys":{"prefix":"user:","minimum":1,"maximum":410,"pattern":"parallel"},"data_size":20,"random_data":false,"generator":null,"clients":[],"after_load":[],"expect":{"reply":"integer","errors":0,"hit_rate":null,"keys":410}},"expect":{"reply":"integer","errors":0,"hit_rate":null,"keys":null},"topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{},"client":null,"companions":[],"groups":[],"topologies":[],"memory_bytes":null,"priority":null,"cannot_run":null,"warnings":[],"limits":[],"file":"","line":0},"servers":{"head":{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{}}},"engine":"counted","blocks":[{"number":0,"seed":1000}],"amounts":{"windows":null,"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false},"load_tool":null,"seconds_left":null}',NULL,NULL,'{"schema":"zerolap.event/1","event":"finished","job":"j-20fd6de4acd2efaa1564a0502c1f97ad","cut_short":false}');
INSERT INTO job VALUES(7,'j-056fa019a0a93a853ad3bc27fca91a46','c-524a59cd45c8ab521962772d','trials','get-100B','counted',NULL,'{"schema":"zerolap.job/1","kind":"trials","request":"c-524a59cd45c8ab521962772d","case":{"name":"get-100B","description":"Reads strings of 100 bytes (raw encoding) out of 16,000 keys.","group":"string","commands":["GET __key__"],"ratios":[1],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"random"},"data_size":100,"random_data":false,"connections":20,"pipeline":16,"state":"stable","setup":[],"dataset":{"name":"strings-100B","setup":[],"load":["SET __key__ __data__"],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"parallel"},"data_size":100,"random_data":false,"generator":null,"clients":[],"after_load":[],"expect":{"reply":"status","errors":0,"hit_rate":null,"keys":1600}},"expect":{"reply":"bulk","errors":0,"hit_rate":">= 0.99","keys":null},"topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{},"client":null,"companions":[],"groups":[],"topologies":[],"memory_bytes":null,"priority":null,"cannot_run":null,"warnings":[],"limits":[],"file":"","line":0},"servers":{"base":{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{}},"head":{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{}}},"engine":"counted","blocks":[{"number":0,"seed":1000}],"amounts":{"windows":null,"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false},"load_tool":null,"seconds_left":null}',NULL,NULL,'{"schema":"zerolap.event/1","event":"finished","job":"j-056fa019a0a93a853ad3bc27fca91a46","cut_short":false}');
CREATE TABLE start_spread (
	comparison_id VARCHAR NOT NULL, 
	"case" VARCHAR NOT NULL, 
	metric VARCHAR NOT NULL, 
	platform_fingerprint VARCHAR NOT NULL, 
	topology VARCHAR NOT NULL, 
	variance FLOAT NOT NULL, 
	degrees FLOAT NOT NULL, 
	CONSTRAINT pk_start_spread PRIMARY KEY (comparison_id, "case", metric), 
	CONSTRAINT fk_start_spread_comparison_id FOREIGN KEY(comparison_id) REFERENCES comparison (id) ON DELETE CASCADE, 
	CONSTRAINT fk_start_spread_platform_fingerprint FOREIGN KEY(platform_fingerprint) REFERENCES platform (fingerprint)
);
CREATE TABLE finding (
	case_result_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	rank INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	function TEXT, 
	CONSTRAINT pk_finding PRIMARY KEY (case_result_id, position), 
	CONSTRAINT fk_finding_case_result_id FOREIGN KEY(case_result_id) REFERENCES case_result (id) ON DELETE CASCADE
);
INSERT INTO finding VALUES(1,0,1,'identity',NULL);
INSERT INTO finding VALUES(3,0,1,'identity',NULL);
CREATE TABLE trial (
	id INTEGER NOT NULL, 
	job_id VARCHAR NOT NULL, 
	request_id VARCHAR NOT NULL, 
	side VARCHAR NOT NULL, 
	block INTEGER NOT NULL, 
	valid BOOLEAN NOT NULL, 
	validity TEXT NOT NULL, 
	amounts TEXT NOT NULL, 
	graph VARCHAR, 
	timeline VARCHAR, 
	stacks VARCHAR, 
	seconds FLOAT NOT NULL, 
	method INTEGER NOT NULL, 
	zerolap VARCHAR NOT NULL, 
	recorded_by VARCHAR NOT NULL, executed VARCHAR, placement VARCHAR, 
	CONSTRAINT pk_trial PRIMARY KEY (id), 
	CONSTRAINT fk_trial_job_id FOREIGN KEY(job_id) REFERENCES job (id) ON DELETE CASCADE, 
	CONSTRAINT fk_trial_request_id FOREIGN KEY(request_id) REFERENCES request (id) ON DELETE CASCADE, 
	CONSTRAINT uq_trial_job_id_side_block UNIQUE (job_id, side, block)
);
INSERT INTO trial VALUES(1,'j-358c246149455691c247045c84efebcf','c-c310ec9d9de0bec4d4f3a7bd','base',0,1,'{"valid":true,"checks":[{"check":"keys","ok":true,"value":1600.0,"limit":"= 1600"},{"check":"clock_pinned","ok":true,"value":575.0,"limit":"> 0 readings"},{"check":"randomness_pinned","ok":true,"value":5.0,"limit":"> 0 readings"},{"check":"errors","ok":true,"value":0.0,"limit":"<= 0"},{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"},{"check":"reply","ok":true,"value":1.0,"limit":"all bulk"},{"check":"executed","ok":true,"value":256.0,"limit":"= 256"}]}','{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false}','48bd8a878ce36fadb54fa8b76ccc75f508383104d3e6ff2fe98814f3c752a43e',NULL,NULL,4.9089993300003698095,2,'0.1.0','0.1.0','0129300cc0957ef2c94476d60c67625f6b2e32c74572fc8728ede60a8aa09c86',NULL);
INSERT INTO trial VALUES(2,'j-358c246149455691c247045c84efebcf','c-c310ec9d9de0bec4d4f3a7bd','head',0,1,'{"valid":true,"checks":[{"check":"keys","ok":true,"value":1600.0,"limit":"= 1600"},{"check":"clock_pinned","ok":true,"value":575.0,"limit":"> 0 readings"},{"check":"randomness_pinned","ok":true,"value":5.0,"limit":"> 0 readings"},{"check":"errors","ok":true,"value":0.0,"limit":"<= 0"},{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"},{"check":"reply","ok":true,"value":1.0,"limit":"all bulk"},{"check":"executed","ok":true,"value":256.0,"limit":"= 256"}]}','{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false}','1ddeadc5ffb6b11c6095b4db53329571f8f95e2cd60fd8c606ff60a747ca0027',NULL,NULL,3.735300543999983347,2,'0.1.0','0.1.0','879bdd28afe994d622af7d684433e68fd957e5f4c38bf756c654e12b55985072',NULL);
INSERT INTO trial VALUES(3,'j-51f4b0247b06d7b8f90a977f9050f694','c-c310ec9d9de0bec4d4f3a7bd','base',2,1,'{"valid":true,"checks":[{"check":"keys","ok":true,"value":1600.0,"limit":"= 1600"},{"check":"clock_pinned","ok":true,"value":575.0,"limit":"> 0 readings"},{"check":"randomness_pinned","ok":true,"value":5.0,"limit":"> 0 readings"},{"check":"errors","ok":true,"value":0.0,"limit":"<= 0"},{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"},{"check":"reply","ok":true,"value":1.0,"limit":"all bulk"},{"check":"executed","ok":true,"value":256.0,"limit":"= 256"}]}','{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false}','abb8e0997e8c6e915116e522e9967b791ecf01392ff59d82e9e85148736151c2',NULL,NULL,3.0969986390000485698,2,'0.1.0','0.1.0','d5fa07833b2e981d627f895969f38c556604bb6c6b17c49dc1419313df4b203d',NULL);
INSERT INTO trial VALUES(4,'j-78df44933f844fed7c94e729e0c543b3','c-c310ec9d9de0bec4d4f3a7bd','base',1,1,'{"valid":true,"checks":[{"check":"keys","ok":true,"value":1600.0,"limit":"= 1600"},{"check":"clock_pinned","ok":true,"value":575.0,"limit":"> 0 readings"},{"check":"randomness_pinned","ok":true,"value":5.0,"limit":"> 0 readings"},{"check":"errors","ok":true,"value":0.0,"limit":"<= 0"},{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"},{"check":"reply","ok":true,"value":1.0,"limit":"all bulk"},{"check":"executed","ok":true,"value":256.0,"limit":"= 256"}]}','{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false}','fa2b9e1f2688c003ba4d913b6b1923de52b17da1bd41b4c313882bc9d8b91750',NULL,NULL,3.3876150070000221603,2,'0.1.0','0.1.0','2076006d15729ee9b6caab9eff9bf775b8da5f04c7d3ccbd39a0cd74dd81b3f2',NULL);
INSERT INTO trial VALUES(5,'j-51f4b0247b06d7b8f90a977f9050f694','c-c310ec9d9de0bec4d4f3a7bd','head',2,1,'{"valid":true,"checks":[{"check":"keys","ok":true,"value":1600.0,"limit":"= 1600"},{"check":"clock_pinned","ok":true,"value":575.0,"limit":"> 0 readings"},{"check":"randomness_pinned","ok":true,"value":5.0,"limit":"> 0 readings"},{"check":"errors","ok":true,"value":0.0,"limit":"<= 0"},{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"},{"check":"reply","ok":true,"value":1.0,"limit":"all bulk"},{"check":"executed","ok":true,"value":256.0,"limit":"= 256"}]}','{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false}','21d93197eae900e90fd71a1cba5d6c5bf80a63d6dcf2903d57f9900edcfec3ec',NULL,NULL,2.6958006089998889365,2,'0.1.0','0.1.0','11dd2ce9413d4f4cbefb39c93088101891bb4950d943e88136b9a69e9738aba5',NULL);
INSERT INTO trial VALUES(6,'j-78df44933f844fed7c94e729e0c543b3','c-c310ec9d9de0bec4d4f3a7bd','head',1,1,'{"valid":true,"checks":[{"check":"keys","ok":true,"value":1600.0,"limit":"= 1600"},{"check":"clock_pinned","ok":true,"value":575.0,"limit":"> 0 readings"},{"check":"randomness_pinned","ok":true,"value":5.0,"limit":"> 0 readings"},{"check":"errors","ok":true,"value":0.0,"limit":"<= 0"},{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"},{"check":"reply","ok":true,"value":1.0,"limit":"all bulk"},{"check":"executed","ok":true,"value":256.0,"limit":"= 256"}]}','{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false}','c5410d07b4bff20a81a55dd72cc1150c4ae25a7135ec6f76dc21d8c3555b0a74',NULL,NULL,3.7727876999997533857,2,'0.1.0','0.1.0','65d5834dfb2c93cdc474722c1c9d7b530a110c3e751d335584479e3c910fc720',NULL);
INSERT INTO trial VALUES(7,'j-f64c5a8a07bf8ebe757f38a5e85d80fc','c-c310ec9d9de0bec4d4f3a7bd','base',3,1,'{"valid":true,"checks":[{"check":"keys","ok":true,"value":1600.0,"limit":"= 1600"},{"check":"clock_pinned","ok":true,"value":575.0,"limit":"> 0 readings"},{"check":"randomness_pinned","ok":true,"value":5.0,"limit":"> 0 readings"},{"check":"errors","ok":true,"value":0.0,"limit":"<= 0"},{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"},{"check":"reply","ok":true,"value":1.0,"limit":"all bulk"},{"check":"executed","ok":true,"value":256.0,"limit":"= 256"}]}','{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false}','2e37ff4ed3e811c5bd130c583d967020f0df219f8817f4de23e23db2eed27eee',NULL,NULL,4.3195972160001474549,2,'0.1.0','0.1.0','2e029c54393dccf2c1cfcafad68bc5c797517dbe21bf6d88c743c02c317caaf5',NULL);
INSERT INTO trial VALUES(8,'j-d2b336249ca5688141b79898ea4473ff','c-c310ec9d9de0bec4d4f3a7bd','base',4,1,'{"valid":true,"checks":[{"check":"keys","ok":true,"value":1600.0,"limit":"= 1600"},{"check":"clock_pinned","ok":true,"value":575.0,"limit":"> 0 readings"},{"check":"randomness_pinned","ok":true,"value":5.0,"limit":"> 0 readings"},{"check":"errors","ok":true,"value":0.0,"limit":"<= 0"},{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"},{"check":"reply","ok":true,"value":1.0,"limit":"all bulk"},{"check":"executed","ok":true,"value":256.0,"limit":"= 256"}]}','{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false}','531a3d11cb74c473c9a8ba70e6aa6f6335897408585d4c52d0700fbd12356d04',NULL,NULL,5.0392339539994281949,2,'0.1.0','0.1.0','6329c6caa0370edf52eb0170ae462e1124faa34f3de39fa706962844c6d66e79',NULL);
INSERT INTO trial VALUES(9,'j-f64c5a8a07bf8ebe757f38a5e85d80fc','c-c310ec9d9de0bec4d4f3a7bd','head',3,1,'{"valid":true,"checks":[{"check":"keys","ok":true,"value":1600.0,"limit":"= 1600"},{"check":"clock_pinned","ok":true,"value":575.0,"limit":"> 0 readings"},{"check":"randomness_pinned","ok":true,"value":5.0,"limit":"> 0 readings"},{"check":"errors","ok":true,"value":0.0,"limit":"<= 0"},{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"},{"check":"reply","ok":true,"value":1.0,"limit":"all bulk"},{"check":"executed","ok":true,"value":256.0,"limit":"= 256"}]}','{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false}','69fe8447219c813d4c0f1718343bbddf1aec0a96f61087eba35e1c0ebac4532c',NULL,NULL,5.1228198709995922399,2,'0.1.0','0.1.0','126f6e1a0ed983631f4bb52ad0623f4278c4318b121278a848139062891b0031',NULL);
INSERT INTO trial VALUES(10,'j-d2b336249ca5688141b79898ea4473ff','c-c310ec9d9de0bec4d4f3a7bd','head',4,1,'{"valid":true,"checks":[{"check":"keys","ok":true,"value":1600.0,"limit":"= 1600"},{"check":"clock_pinned","ok":true,"value":575.0,"limit":"> 0 readings"},{"check":"randomness_pinned","ok":true,"value":5.0,"limit":"> 0 readings"},{"check":"errors","ok":true,"value":0.0,"limit":"<= 0"},{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"},{"check":"reply","ok":true,"value":1.0,"limit":"all bulk"},{"check":"executed","ok":true,"value":256.0,"limit":"= 256"}]}','{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false}','09fc5641c946d38d33d3310fcc0e2cc6ee7bdbd115accafe49d853905529fd73',NULL,NULL,4.2293212480008151032,2,'0.1.0','0.1.0','9b6fba4ff2c9c98b8fe1961a69e67e24b9dffd9624ebdb46e4a7d499aa5fce86',NULL);
INSERT INTO trial VALUES(11,'j-20fd6de4acd2efaa1564a0502c1f97ad','r-66449b120288c0a0a8846729','head',0,1,'{"valid":true,"checks":[{"check":"keys","ok":true,"value":410.0,"limit":"= 410"},{"check":"clock_pinned","ok":true,"value":435.0,"limit":"> 0 readings"},{"check":"randomness_pinned","ok":true,"value":5.0,"limit":"> 0 readings"},{"check":"errors","ok":true,"value":0.0,"limit":"<= 0"},{"check":"reply","ok":true,"value":1.0,"limit":"all integer"},{"check":"executed","ok":true,"value":192.0,"limit":"= 192"}]}','{"windows":{"small":32,"large":160},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false}','3949fced552f6dd161a98aad8bda52c2f3083ae60e6bbac6a8aaa0498cc86cb8',NULL,NULL,8.6399677330000486108,2,'0.1.0','0.1.0','664d6f21b99b36cd9fd2e78339f80923fe150eb9a714006b006ab3efb3cebd23',NULL);
INSERT INTO trial VALUES(12,'j-056fa019a0a93a853ad3bc27fca91a46','c-524a59cd45c8ab521962772d','base',0,1,'{"valid":true,"checks":[{"check":"keys","ok":true,"value":1600.0,"limit":"= 1600"},{"check":"clock_pinned","ok":true,"value":575.0,"limit":"> 0 readings"},{"check":"randomness_pinned","ok":true,"value":5.0,"limit":"> 0 readings"},{"check":"errors","ok":true,"value":0.0,"limit":"<= 0"},{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"},{"check":"reply","ok":true,"value":1.0,"limit":"all bulk"},{"check":"executed","ok":true,"value":256.0,"limit":"= 256"}]}','{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false}','48bd8a878ce36fadb54fa8b76ccc75f508383104d3e6ff2fe98814f3c752a43e',NULL,NULL,3.9638748329998634289,2,'0.1.0','0.1.0','0129300cc0957ef2c94476d60c67625f6b2e32c74572fc8728ede60a8aa09c86',NULL);
INSERT INTO trial VALUES(13,'j-056fa019a0a93a853ad3bc27fca91a46','c-524a59cd45c8ab521962772d','head',0,1,'{"valid":true,"checks":[{"check":"keys","ok":true,"value":1600.0,"limit":"= 1600"},{"check":"clock_pinned","ok":true,"value":575.0,"limit":"> 0 readings"},{"check":"randomness_pinned","ok":true,"value":5.0,"limit":"> 0 readings"},{"check":"errors","ok":true,"value":0.0,"limit":"<= 0"},{"check":"hit_rate","ok":true,"value":1.0,"limit":">= 0.99"},{"check":"reply","ok":true,"value":1.0,"limit":"all bulk"},{"check":"executed","ok":true,"value":256.0,"limit":"= 256"}]}','{"windows":{"small":48,"large":208},"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false}','48bd8a878ce36fadb54fa8b76ccc75f508383104d3e6ff2fe98814f3c752a43e',NULL,NULL,3.9379289560001780046,2,'0.1.0','0.1.0','0129300cc0957ef2c94476d60c67625f6b2e32c74572fc8728ede60a8aa09c86',NULL);
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
INSERT INTO verdict VALUES(1,0,'instructions_per_op','counted','same',3510.8612500000003818,3507.5612500000002001,-0.00093423240268568493675,-0.0035409213308798554581,0.0016792754981224387346,NULL,5,5,0.005000000000000000104,0.0057293296814858105103);
INSERT INTO verdict VALUES(1,1,'allocations_per_op','counted','same',3.0625,3.0625,0.0,-0.00050217750559990539417,0.00050242981455091563318,NULL,5,5,0.005000000000000000104,0.0051375828233009264781);
INSERT INTO verdict VALUES(1,2,'syscalls_per_op','counted','same',0.1875,0.1875,0.0,-0.00050230362633734619657,0.00050230365156824082709,NULL,5,5,0.053333333333333336756,0.053470467516289546527);
INSERT INTO verdict VALUES(1,3,'clock_readings_per_op','counted','same',2.2200772200772198594,2.2200772200772198594,0.0,-0.00050217750559990539417,0.00050242981455091563318,NULL,5,5,0.005000000000000000104,0.0051375828233009264781);
INSERT INTO verdict VALUES(1,4,'instructions_alone_per_op','counted','same',4991.5666666666666062,4996.0666666666675153,0.00089699271448917007858,-0.002165321482091010774,0.0039687050292551264221,NULL,5,5,0.005000000000000000104,0.0058488499430653009131);
INSERT INTO verdict VALUES(1,5,'instructions_per_tick','counted','same',67600.0,68000.0,0.0059165741915843794024,-0.014430734227460328966,0.02626392376844708873,NULL,5,5,1.4792899408284023721,1.4848450247097542131);
INSERT INTO verdict VALUES(3,0,'instructions_per_op','counted','identical',3498.2812500000004547,3498.2812500000004547,0.0,-0.00020000000000000000958,0.00020000000000000000958,NULL,1,1,0.005000000000000000104,0.00020000000000000000958);
INSERT INTO verdict VALUES(3,1,'allocations_per_op','counted','same',3.0625,3.0625,0.0,-0.00020000000000000000958,0.00020000000000000000958,NULL,1,1,0.005000000000000000104,0.00020000000000000000958);
INSERT INTO verdict VALUES(3,2,'syscalls_per_op','counted','same',0.1875,0.1875,0.0,-0.00020000000000000000958,0.00020000000000000000958,NULL,1,1,0.005000000000000000104,0.00020000000000000000958);
INSERT INTO verdict VALUES(3,3,'clock_readings_per_op','counted','same',2.2200772200772198594,2.2200772200772198594,0.0,-0.00020000000000000000958,0.00020000000000000000958,NULL,1,1,0.005000000000000000104,0.00020000000000000000958);
INSERT INTO verdict VALUES(3,4,'instructions_alone_per_op','counted','same',4967.4375000000000001,4967.4375000000000001,0.0,-0.00020000000000000000958,0.00020000000000000000958,NULL,1,1,0.005000000000000000104,0.00020000000000000000958);
INSERT INTO verdict VALUES(3,5,'instructions_per_tick','counted','same',68000.0,68000.0,0.0,-0.00020000000000000000958,0.00020000000000000000958,NULL,1,1,0.005000000000000000104,0.00020000000000000000958);
CREATE TABLE metric (
	trial_id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	value FLOAT NOT NULL, 
	series_id VARCHAR, 
	CONSTRAINT pk_metric PRIMARY KEY (trial_id, name), 
	CONSTRAINT fk_metric_series_id FOREIGN KEY(series_id) REFERENCES series (id), 
	CONSTRAINT fk_metric_trial_id FOREIGN KEY(trial_id) REFERENCES trial (id) ON DELETE CASCADE
);
INSERT INTO metric VALUES(1,'instructions_per_op',3498.2812500000004547,'s-d40ae683756c0987b3e1f4a6f024e700');
INSERT INTO metric VALUES(1,'syscalls_per_op',0.1875,'s-4ea46a8ddf4edd7c86b5206ade43ad5f');
INSERT INTO metric VALUES(1,'clock_readings_per_op',2.2200772200772198594,'s-321eed6aed08773c3eba624d8d20f291');
INSERT INTO metric VALUES(1,'instructions_per_tick',68000.0,'s-8a10f834f0de0740e9bd658ced36725c');
INSERT INTO metric VALUES(1,'instructions_alone_per_op',4967.4375000000000001,'s-132d7ca2ad19a5470892a2f17ce99d46');
INSERT INTO metric VALUES(1,'allocations_per_op',3.0625,'s-258a42626e95291229fd9fc31f3fb0a4');
INSERT INTO metric VALUES(2,'instructions_per_op',3494.4750000000003638,'s-e73d384bf30e75cfbf41a164d013534b');
INSERT INTO metric VALUES(2,'syscalls_per_op',0.1875,'s-1606e663993c29382b71a6a527752382');
INSERT INTO metric VALUES(2,'clock_readings_per_op',2.2200772200772198594,'s-0218b1db3b5ec81eef39a691bff610bf');
INSERT INTO metric VALUES(2,'instructions_per_tick',68000.0,'s-d2ffbf7f70581d6f354b38d623b871a7');
INSERT INTO metric VALUES(2,'instructions_alone_per_op',4967.4375000000000001,'s-c3daa642acf5c098fa7785d8ababc413');
INSERT INTO metric VALUES(2,'allocations_per_op',3.0625,'s-b9dc2198a95b528855391753ccf8f34f');
INSERT INTO metric VALUES(3,'instructions_per_op',3488.5687500000003638,'s-d40ae683756c0987b3e1f4a6f024e700');
INSERT INTO metric VALUES(3,'syscalls_per_op',0.1875,'s-4ea46a8ddf4edd7c86b5206ade43ad5f');
INSERT INTO metric VALUES(3,'clock_readings_per_op',2.2200772200772198594,'s-321eed6aed08773c3eba624d8d20f291');
INSERT INTO metric VALUES(3,'instructions_per_tick',68000.0,'s-8a10f834f0de0740e9bd658ced36725c');
INSERT INTO metric VALUES(3,'instructions_alone_per_op',4967.8958333333330301,'s-132d7ca2ad19a5470892a2f17ce99d46');
INSERT INTO metric VALUES(3,'allocations_per_op',3.0625,'s-258a42626e95291229fd9fc31f3fb0a4');
INSERT INTO metric VALUES(4,'instructions_per_op',3574.28125,'s-d40ae683756c0987b3e1f4a6f024e700');
INSERT INTO metric VALUES(4,'syscalls_per_op',0.1875,'s-4ea46a8ddf4edd7c86b5206ade43ad5f');
INSERT INTO metric VALUES(4,'clock_readings_per_op',2.2200772200772198594,'s-321eed6aed08773c3eba624d8d20f291');
INSERT INTO metric VALUES(4,'instructions_per_tick',67000.0,'s-8a10f834f0de0740e9bd658ced36725c');
INSERT INTO metric VALUES(4,'instructions_alone_per_op',5049.9166666666660601,'s-132d7ca2ad19a5470892a2f17ce99d46');
INSERT INTO metric VALUES(4,'allocations_per_op',3.0625,'s-258a42626e95291229fd9fc31f3fb0a4');
INSERT INTO metric VALUES(5,'instructions_per_op',3491.1312500000003637,'s-e73d384bf30e75cfbf41a164d013534b');
INSERT INTO metric VALUES(5,'syscalls_per_op',0.1875,'s-1606e663993c29382b71a6a527752382');
INSERT INTO metric VALUES(5,'clock_readings_per_op',2.2200772200772198594,'s-0218b1db3b5ec81eef39a691bff610bf');
INSERT INTO metric VALUES(5,'instructions_per_tick',68000.0,'s-d2ffbf7f70581d6f354b38d623b871a7');
INSERT INTO metric VALUES(5,'instructions_alone_per_op',4967.9791666666669697,'s-c3daa642acf5c098fa7785d8ababc413');
INSERT INTO metric VALUES(5,'allocations_per_op',3.0625,'s-b9dc2198a95b528855391753ccf8f34f');
INSERT INTO metric VALUES(6,'instructions_per_op',3566.612499999999727,'s-e73d384bf30e75cfbf41a164d013534b');
INSERT INTO metric VALUES(6,'syscalls_per_op',0.1875,'s-1606e663993c29382b71a6a527752382');
INSERT INTO metric VALUES(6,'clock_readings_per_op',2.2200772200772198594,'s-0218b1db3b5ec81eef39a691bff610bf');
INSERT INTO metric VALUES(6,'instructions_per_tick',68000.0,'s-d2ffbf7f70581d6f354b38d623b871a7');
INSERT INTO metric VALUES(6,'instructions_alone_per_op',5061.1666666666660602,'s-c3daa642acf5c098fa7785d8ababc413');
INSERT INTO metric VALUES(6,'allocations_per_op',3.0625,'s-b9dc2198a95b528855391753ccf8f34f');
INSERT INTO metric VALUES(7,'instructions_per_op',3496.4687499999999998,'s-d40ae683756c0987b3e1f4a6f024e700');
INSERT INTO metric VALUES(7,'syscalls_per_op',0.1875,'s-4ea46a8ddf4edd7c86b5206ade43ad5f');
INSERT INTO metric VALUES(7,'clock_readings_per_op',2.2200772200772198594,'s-321eed6aed08773c3eba624d8d20f291');
INSERT INTO metric VALUES(7,'instructions_per_tick',68000.0,'s-8a10f834f0de0740e9bd658ced36725c');
INSERT INTO metric VALUES(7,'instructions_alone_per_op',4995.0416666666669698,'s-132d7ca2ad19a5470892a2f17ce99d46');
INSERT INTO metric VALUES(7,'allocations_per_op',3.0625,'s-258a42626e95291229fd9fc31f3fb0a4');
INSERT INTO metric VALUES(8,'instructions_per_op',3496.7062500000001819,'s-d40ae683756c0987b3e1f4a6f024e700');
INSERT INTO metric VALUES(8,'syscalls_per_op',0.1875,'s-4ea46a8ddf4edd7c86b5206ade43ad5f');
INSERT INTO metric VALUES(8,'clock_readings_per_op',2.2200772200772198594,'s-321eed6aed08773c3eba624d8d20f291');
INSERT INTO metric VALUES(8,'instructions_per_tick',67000.0,'s-8a10f834f0de0740e9bd658ced36725c');
INSERT INTO metric VALUES(8,'instructions_alone_per_op',4977.5416666666669699,'s-132d7ca2ad19a5470892a2f17ce99d46');
INSERT INTO metric VALUES(8,'allocations_per_op',3.0625,'s-258a42626e95291229fd9fc31f3fb0a4');
INSERT INTO metric VALUES(9,'instructions_per_op',3492.78125,'s-e73d384bf30e75cfbf41a164d013534b');
INSERT INTO metric VALUES(9,'syscalls_per_op',0.1875,'s-1606e663993c29382b71a6a527752382');
INSERT INTO metric VALUES(9,'clock_readings_per_op',2.2200772200772198594,'s-0218b1db3b5ec81eef39a691bff610bf');
INSERT INTO metric VALUES(9,'instructions_per_tick',68000.0,'s-d2ffbf7f70581d6f354b38d623b871a7');
INSERT INTO metric VALUES(9,'instructions_alone_per_op',4995.0416666666669698,'s-c3daa642acf5c098fa7785d8ababc413');
INSERT INTO metric VALUES(9,'allocations_per_op',3.0625,'s-b9dc2198a95b528855391753ccf8f34f');
INSERT INTO metric VALUES(10,'instructions_per_op',3492.806250000000091,'s-e73d384bf30e75cfbf41a164d013534b');
INSERT INTO metric VALUES(10,'syscalls_per_op',0.1875,'s-1606e663993c29382b71a6a527752382');
INSERT INTO metric VALUES(10,'clock_readings_per_op',2.2200772200772198594,'s-0218b1db3b5ec81eef39a691bff610bf');
INSERT INTO metric VALUES(10,'instructions_per_tick',68000.0,'s-d2ffbf7f70581d6f354b38d623b871a7');
INSERT INTO metric VALUES(10,'instructions_alone_per_op',4988.7083333333339398,'s-c3daa642acf5c098fa7785d8ababc413');
INSERT INTO metric VALUES(10,'allocations_per_op',3.0625,'s-b9dc2198a95b528855391753ccf8f34f');
INSERT INTO metric VALUES(11,'instructions_per_op',6294.6484375000000001,'s-02a47f0307647623fecca766a2bdcbaa');
INSERT INTO metric VALUES(11,'syscalls_per_op',0.1875,'s-e693e5adc5f6962653481630d0342eca');
INSERT INTO metric VALUES(11,'clock_readings_per_op',2.2307692307692308375,'s-085fd5e318509d6a66db0e7f04bbe3b7');
INSERT INTO metric VALUES(11,'instructions_per_tick',68000.0,'s-fdaa9cb643ecfb52fdbe7d93363f294d');
INSERT INTO metric VALUES(11,'instructions_alone_per_op',7810.8333333333330303,'s-895a8b53c62a6cb0b7b8300c8e2be2f5');
INSERT INTO metric VALUES(11,'allocations_per_op',5.0625,'s-3d3d86ae0d47829fd8060919ef08ac65');
INSERT INTO metric VALUES(12,'instructions_per_op',3498.2812500000004547,'s-d40ae683756c0987b3e1f4a6f024e700');
INSERT INTO metric VALUES(12,'syscalls_per_op',0.1875,'s-4ea46a8ddf4edd7c86b5206ade43ad5f');
INSERT INTO metric VALUES(12,'clock_readings_per_op',2.2200772200772198594,'s-321eed6aed08773c3eba624d8d20f291');
INSERT INTO metric VALUES(12,'instructions_per_tick',68000.0,'s-8a10f834f0de0740e9bd658ced36725c');
INSERT INTO metric VALUES(12,'instructions_alone_per_op',4967.4375000000000001,'s-132d7ca2ad19a5470892a2f17ce99d46');
INSERT INTO metric VALUES(12,'allocations_per_op',3.0625,'s-258a42626e95291229fd9fc31f3fb0a4');
INSERT INTO metric VALUES(13,'instructions_per_op',3498.2812500000004547,'s-d40ae683756c0987b3e1f4a6f024e700');
INSERT INTO metric VALUES(13,'syscalls_per_op',0.1875,'s-4ea46a8ddf4edd7c86b5206ade43ad5f');
INSERT INTO metric VALUES(13,'clock_readings_per_op',2.2200772200772198594,'s-321eed6aed08773c3eba624d8d20f291');
INSERT INTO metric VALUES(13,'instructions_per_tick',68000.0,'s-8a10f834f0de0740e9bd658ced36725c');
INSERT INTO metric VALUES(13,'instructions_alone_per_op',4967.4375000000000001,'s-132d7ca2ad19a5470892a2f17ce99d46');
INSERT INTO metric VALUES(13,'allocations_per_op',3.0625,'s-258a42626e95291229fd9fc31f3fb0a4');
CREATE TABLE fleet_platform (
	name VARCHAR NOT NULL, 
	builder VARCHAR NOT NULL, 
	document TEXT NOT NULL, 
	CONSTRAINT pk_fleet_platform PRIMARY KEY (name)
);
INSERT INTO fleet_platform VALUES('local','local','{"architecture":null,"processors":null,"memory_gib":null,"counters":false,"builder":null,"load":null}');
CREATE TABLE agent (
	name VARCHAR NOT NULL, 
	lab VARCHAR NOT NULL, 
	platform VARCHAR NOT NULL, 
	document TEXT NOT NULL, 
	seen FLOAT NOT NULL, 
	draining BOOLEAN NOT NULL, 
	refusal TEXT, 
	CONSTRAINT pk_agent PRIMARY KEY (name)
);
INSERT INTO agent VALUES('local','local','local','{"message":"hello","kind":"bench","zerolap":"0.1.0","platform":{"name":"vm","fingerprint":"9b4b2c8b1557be8c","cpu":"AMD EPYC","cores":2,"kernel":"6.18.44","facts":{"architecture":"x86_64","cpu":"AMD EPYC","processors":"[[0, 0, 0], [1, 1, 0]]","memory_gib":"24","virtualisation":"virtual machine, container","microcode":"0x1000065","kernel":"6.18.44","libc":"glibc 2.36","governor":"","turbo":"","huge_pages":"madvise","huge_pages_defragmentation":"madvise","clock_source":"tsc","mitigations":"{\"gather_data_sampling\": \"Not affected\", \"ghostwrite\": \"Not affected\", \"indirect_target_selection\": \"Not affected\", \"itlb_multihit\": \"Not affected\", \"l1tf\": \"Not affected\", \"mds\": \"Not affected\", \"meltdown\": \"Not affected\", \"mmio_stale_data\": \"Not affected\", \"old_microcode\": \"Not affected\", \"reg_file_data_sampling\": \"Not affected\", \"retbleed\": \"Not affected\", \"spec_rstack_overflow\": \"Vulnerable: Safe RET, no microcode\", \"spec_store_bypass\": \"Vulnerable\", \"spectre_v1\": \"Mitigation: usercopy/swapgs barriers and __user pointer sanitization\", \"spectre_v2\": \"Mitigation: Retpolines; STIBP: disabled; RSB filling; PBRSB-eIBRS: Not affected; BHI: Not affected\", \"srbds\": \"Not affected\", \"tsa\": \"Not affected\", \"tsx_async_abort\": \"Not affected\", \"vmscape\": \"Not affected\"}","address_randomisation":"2"}},"architecture":"x86_64","memory_bytes":25276502016,"counters":false,"tools":{"cc":["x86_64","cc (Debian 12.2.0-14+deb12u1) 12.2.0"],"gcc":["x86_64","gcc (Debian 12.2.0-14+deb12u1) 12.2.0"],"gcc-12":["x86_64","gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0"]},"missing":{},"address":""}',1795430831.6554665565,0,NULL);
CREATE TABLE submission (
	number INTEGER NOT NULL, 
	id VARCHAR NOT NULL, 
	platform VARCHAR NOT NULL, 
	priority VARCHAR NOT NULL, 
	topic VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	reason TEXT NOT NULL, 
	submitted FLOAT NOT NULL, 
	ended FLOAT, 
	document TEXT NOT NULL, 
	CONSTRAINT pk_submission PRIMARY KEY (number), 
	CONSTRAINT ck_submission_state CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled', 'superseded')), 
	CONSTRAINT uq_submission_id UNIQUE (id)
);
INSERT INTO submission VALUES(1,'c-524a59cd45c8ab521962772d','local','pull','','done','',1795430822.8185942172,1795430832.2884786129,'{"schema":"zerolap.submission/1","id":"c-524a59cd45c8ab521962772d","kind":"compare","created":"2026-11-23T10:47:02Z","command_line":"zerolap compare redis-server redis-server get-100B --quick --store s --platform all","servers":{"base":{"source":{"kind":"archive","name":"redis-server","form":"program","content":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","archive":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","revision":null,"arguments":[]},"variant":"default","config":{}},"head":{"source":{"kind":"archive","name":"redis-server","form":"program","content":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","archive":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","revision":null,"arguments":[]},"variant":"default","config":{}}},"cases":[{"name":"get-100B","description":"Reads strings of 100 bytes (raw encoding) out of 16,000 keys.","group":"string","commands":["GET __key__"],"ratios":[1],"keys":{"prefix":"string:","minimum":1,"maximum":16000,"pattern":"random"},"data_size":100,"random_data":false,"connections":20,"pipeline":16,"state":"stable","setup":[],"dataset":{"name":"strings-100B","setup":[],"load":["SET __key__ __data__"],"keys":{"prefix":"string:","minimum":1,"maximum":16000,"pattern":"parallel"},"data_size":100,"random_data":false,"generator":null,"clients":[],"after_load":[],"expect":{"reply":"status","errors":0,"hit_rate":null,"keys":16000}},"expect":{"reply":"bulk","errors":0,"hit_rate":">= 0.99","keys":null},"topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{},"client":null,"companions":[],"groups":[],"topologies":[],"memory_bytes":null,"priority":null,"cannot_run":null,"warnings":[],"limits":[],"file":"/work/old/python/zerolap/cases/suites/core.yml","line":82}],"settings":{"engines":["counted"],"min_effect":{"counted":0.005,"timed":0.02},"q":0.01,"budget_seconds":null,"seed":1,"quick":true,"load_policy":"lab","load_tool":"zerolap-load","level":null,"equivalence_level":null,"regression_rule":null,"look_shares":null},"platform":"local","priority":"pull","topic":"","trigger":"command line","all_stacks":false,"notes":[]}');
CREATE TABLE attempt (
	number INTEGER NOT NULL, 
	id VARCHAR NOT NULL, 
	submission_id VARCHAR NOT NULL, 
	job_id VARCHAR NOT NULL, 
	platform VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	agent VARCHAR, 
	delivery INTEGER NOT NULL, 
	publications INTEGER NOT NULL, 
	created FLOAT NOT NULL, 
	claimed FLOAT, 
	ended FLOAT, 
	reason TEXT NOT NULL, 
	document TEXT NOT NULL, 
	CONSTRAINT pk_attempt PRIMARY KEY (number), 
	CONSTRAINT ck_attempt_state CHECK (state IN ('ready', 'claimed', 'done', 'failed', 'given up', 'cancelled')), 
	CONSTRAINT fk_attempt_submission_id_submission FOREIGN KEY(submission_id) REFERENCES submission (id) ON DELETE CASCADE, 
	CONSTRAINT uq_attempt_id UNIQUE (id)
);
INSERT INTO attempt VALUES(1,'a-952ffa18de2b43604b57cc78','c-524a59cd45c8ab521962772d','j-fbeae65b593b7d125b510c89a29ab237','local','done','local',1,1,1795430823.291697979,1795430823.2944424152,1795430823.749809742,'','{"schema":"zerolap.job/1","kind":"build","request":"c-524a59cd45c8ab521962772d","source":{"kind":"archive","name":"redis-server","form":"program","content":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","archive":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","revision":null,"arguments":[]},"variant":"default","spec":{"content":"c2f35b59cb22f17cdfdef50b18a6b273a0044c4c981eb210ef57ffcac44c2610","variant":"","recipe":0,"tools":[],"arguments":[]},"objects_of":null}');
INSERT INTO attempt VALUES(2,'a-13b9baf6a0fea539966ceae0','c-524a59cd45c8ab521962772d','j-056fa019a0a93a853ad3bc27fca91a46','local','done','local',1,1,1795430824.1293873787,1795430824.1406190394,1795430832.2526507377,'','{"schema":"zerolap.job/1","kind":"trials","request":"c-524a59cd45c8ab521962772d","case":{"name":"get-100B","description":"Reads strings of 100 bytes (raw encoding) out of 16,000 keys.","group":"string","commands":["GET __key__"],"ratios":[1],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"random"},"data_size":100,"random_data":false,"connections":20,"pipeline":16,"state":"stable","setup":[],"dataset":{"name":"strings-100B","setup":[],"load":["SET __key__ __data__"],"keys":{"prefix":"string:","minimum":1,"maximum":1600,"pattern":"parallel"},"data_size":100,"random_data":false,"generator":null,"clients":[],"after_load":[],"expect":{"reply":"status","errors":0,"hit_rate":null,"keys":1600}},"expect":{"reply":"bulk","errors":0,"hit_rate":">= 0.99","keys":null},"topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{},"client":null,"companions":[],"groups":[],"topologies":[],"memory_bytes":null,"priority":null,"cannot_run":null,"warnings":[],"limits":[],"file":"","line":0},"servers":{"base":{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{}},"head":{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","topology":{"name":"standalone","description":"one server, reached over a unix socket","primaries":1,"replicas":0,"is_cluster":false,"settings":{},"cpus":null,"memory_bytes":null,"transport":"unix"},"config":{}}},"engine":"counted","blocks":[{"number":0,"seed":1000}],"amounts":{"windows":null,"scale":0.1,"pairs":null,"slice_requests":null,"per_second":null,"alone":false},"load_tool":null,"seconds_left":null}');
CREATE TABLE delivery (
	id VARCHAR NOT NULL, 
	received FLOAT NOT NULL, 
	repository VARCHAR NOT NULL, 
	digest VARCHAR NOT NULL, 
	CONSTRAINT pk_delivery PRIMARY KEY (id), 
	CONSTRAINT uq_delivery_digest UNIQUE (digest)
);
CREATE TABLE IF NOT EXISTS "trigger" (
	number INTEGER NOT NULL, 
	id VARCHAR NOT NULL, 
	delivery_id VARCHAR, 
	repository VARCHAR NOT NULL, 
	subject VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	actor VARCHAR, 
	document TEXT NOT NULL, 
	created FLOAT NOT NULL, 
	state VARCHAR NOT NULL, 
	reason TEXT NOT NULL, 
	submissions TEXT NOT NULL, 
	CONSTRAINT pk_trigger PRIMARY KEY (number), 
	CONSTRAINT ck_trigger_state CHECK (state IN ('waiting', 'working', 'done', 'refused', 'failed')), 
	CONSTRAINT fk_trigger_delivery_id_delivery FOREIGN KEY(delivery_id) REFERENCES delivery (id) ON DELETE SET NULL, 
	CONSTRAINT uq_trigger_id UNIQUE (id), 
	CONSTRAINT uq_trigger_delivery_id UNIQUE (delivery_id)
);
CREATE TABLE acknowledgement (
	subject VARCHAR NOT NULL, 
	head VARCHAR NOT NULL, 
	"case" VARCHAR NOT NULL, 
	repository VARCHAR NOT NULL, 
	actor VARCHAR NOT NULL, 
	reason TEXT NOT NULL, 
	created FLOAT NOT NULL, 
	CONSTRAINT pk_acknowledgement PRIMARY KEY (subject, head, "case")
);
CREATE TABLE api_token (
	name VARCHAR NOT NULL, 
	digest VARCHAR NOT NULL, 
	actor VARCHAR NOT NULL, 
	scopes TEXT NOT NULL, 
	created FLOAT NOT NULL, 
	last_used FLOAT, 
	CONSTRAINT pk_api_token PRIMARY KEY (name), 
	CONSTRAINT uq_api_token_digest UNIQUE (digest)
);
CREATE TABLE watched_ref (
	remote VARCHAR NOT NULL, 
	ref VARCHAR NOT NULL, 
	"commit" VARCHAR NOT NULL, 
	updated FLOAT NOT NULL, 
	CONSTRAINT pk_watched_ref PRIMARY KEY (remote, ref)
);
CREATE TABLE post (
	subject VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	external_id VARCHAR, 
	digest VARCHAR NOT NULL, 
	posted FLOAT, 
	not_before FLOAT NOT NULL, 
	CONSTRAINT pk_post PRIMARY KEY (subject, kind, "key"), 
	CONSTRAINT ck_post_kind CHECK (kind IN ('comment', 'check', 'status', 'issue'))
);
CREATE TABLE artifact (
	build VARCHAR NOT NULL, 
	builder VARCHAR NOT NULL, 
	blob VARCHAR, 
	abilities TEXT NOT NULL, 
	document TEXT NOT NULL, 
	CONSTRAINT pk_artifact PRIMARY KEY (build, builder), 
	CONSTRAINT fk_artifact_build_build FOREIGN KEY(build) REFERENCES build (build) ON DELETE CASCADE
);
INSERT INTO artifact VALUES('b-5edb3c24e59223539c6b9b623fb0efaf','local',NULL,'{"commands":["ACL","APPEND","ASKING","AUTH","BGREWRITEAOF","BGSAVE","BITCOUNT","BITFIELD","BITFIELD_RO","BITOP","BITPOS","BLMOVE","BLMPOP","BLPOP","BRPOP","BRPOPLPUSH","BZMPOP","BZPOPMAX","BZPOPMIN","CLIENT","CLUSTER","COMMAND","CONFIG","COPY","DBSIZE","DEBUG","DECR","DECRBY","DEL","DISCARD","DUMP","ECHO","EVAL","EVALSHA","EVALSHA_RO","EVAL_RO","EXEC","EXISTS","EXPIRE","EXPIREAT","EXPIRETIME","FAILOVER","FCALL","FCALL_RO","FLUSHALL","FLUSHDB","FUNCTION","GEOADD","GEODIST","GEOHASH","GEOPOS","GEORADIUS","GEORADIUSBYMEMBER","GEORADIUSBYMEMBER_RO","GEORADIUS_RO","GEOSEARCH","GEOSEARCHSTORE","GET","GETBIT","GETDEL","GETEX","GETRANGE","GETSET","HDEL","HELLO","HEXISTS","HGET","HGETALL","HINCRBY","HINCRBYFLOAT","HKEYS","HLEN","HMGET","HMSET","HRANDFIELD","HSCAN","HSET","HSETNX","HSTRLEN","HVALS","INCR","INCRBY","INCRBYFLOAT","INFO","KEYS","LASTSAVE","LATENCY","LCS","LINDEX","LINSERT","LLEN","LMOVE","LMPOP","LOLWUT","LPOP","LPOS","LPUSH","LPUSHX","LRANGE","LREM","LSET","LTRIM","MEMORY","MGET","MIGRATE","MODULE","MONITOR","MOVE","MSET","MSETNX","MULTI","OBJECT","PERSIST","PEXPIRE","PEXPIREAT","PEXPIRETIME","PFADD","PFCOUNT","PFDEBUG","PFMERGE","PFSELFTEST","PING","PSETEX","PSUBSCRIBE","PSYNC","PTTL","PUBLISH","PUBSUB","PUNSUBSCRIBE","QUIT","RANDOMKEY","READONLY","READWRITE","RENAME","RENAMENX","REPLCONF","REPLICAOF","RESET","RESTORE","RESTORE-ASKING","ROLE","RPOP","RPOPLPUSH","RPUSH","RPUSHX","SADD","SAVE","SCAN","SCARD","SCRIPT","SDIFF","SDIFFSTORE","SELECT","SET","SETBIT","SETEX","SETNX","SETRANGE","SHUTDOWN","SINTER","SINTERCARD","SINTERSTORE","SISMEMBER","SLAVEOF","SLOWLOG","SMEMBERS","SMISMEMBER","SMOVE","SORT","SORT_RO","SPOP","SPUBLISH","SRANDMEMBER","SREM","SSCAN","SSUBSCRIBE","STRLEN","SUBSCRIBE","SUBSTR","SUNION","SUNIONSTORE","SUNSUBSCRIBE","SWAPDB","SYNC","TIME","TOUCH","TTL","TYPE","UNLINK","UNSUBSCRIBE","UNWATCH","WAIT","WATCH","XACK","XADD","XAUTOCLAIM","XCLAIM","XDEL","XGROUP","XINFO","XLEN","XPENDING","XRANGE","XREAD","XREADGROUP","XREVRANGE","XSETID","XTRIM","ZADD","ZCARD","ZCOUNT","ZDIFF","ZDIFFSTORE","ZINCRBY","ZINTER","ZINTERCARD","ZINTERSTORE","ZLEXCOUNT","ZMPOP","ZMSCORE","ZPOPMAX","ZPOPMIN","ZRANDMEMBER","ZRANGE","ZRANGEBYLEX","ZRANGEBYSCORE","ZRANGESTORE","ZRANK","ZREM","ZREMRANGEBYLEX","ZREMRANGEBYRANK","ZREMRANGEBYSCORE","ZREVRANGE","ZREVRANGEBYLEX","ZREVRANGEBYSCORE","ZREVRANK","ZSCAN","ZSCORE","ZUNION","ZUNIONSTORE"],"settings":["acl-pubsub-default","aclfile","acllog-max-len","active-defrag-cycle-max","active-defrag-cycle-min","active-defrag-ignore-bytes","active-defrag-max-scan-fields","active-defrag-threshold-lower","active-defrag-threshold-upper","active-expire-effort","activedefrag","activerehashing","always-show-logo","aof-disable-auto-gc","aof-load-truncated","aof-rewrite-incremental-fsync","aof-timestamp-enabled","aof-use-rdb-preamble","aof_rewrite_cpulist","appenddirname","appendfilename","appendfsync","appendonly","auto-aof-rewrite-min-size","auto-aof-rewrite-percentage","bgsave_cpulist","bind","bind-source-addr","bio_cpulist","busy-reply-threshold","client-output-buffer-limit","client-query-buffer-limit","cluster-allow-pubsubshard-when-down","cluster-allow-reads-when-down","cluster-allow-replica-migration","cluster-announce-bus-port","cluster-announce-hostname","cluster-announce-ip","cluster-announce-port","cluster-announce-tls-port","cluster-config-file","cluster-enabled","cluster-link-sendbuf-limit","cluster-migration-barrier","cluster-node-timeout","cluster-port","cluster-preferred-endpoint-type","cluster-replica-no-failover","cluster-replica-validity-factor","cluster-require-full-coverage","cluster-slave-no-failover","cluster-slave-validity-factor","crash-log-enabled","crash-memcheck-enabled","daemonize","databases","dbfilename","dir","disable-thp","dynamic-hz","enable-debug-command","enable-module-command","enable-protected-configs","hash-max-listpack-entries","hash-max-listpack-value","hash-max-ziplist-entries","hash-max-ziplist-value","hll-sparse-max-bytes","hz","ignore-warnings","include","io-threads","io-threads-do-reads","jemalloc-bg-thread","latency-monitor-threshold","latency-tracking","latency-tracking-info-percentiles","lazyfree-lazy-eviction","lazyfree-lazy-expire","lazyfree-lazy-server-del","lazyfree-lazy-user-del","lazyfree-lazy-user-flush","lfu-decay-time","lfu-log-factor","list-compress-depth","list-max-listpack-size","list-max-ziplist-size","loadmodule","logfile","loglevel","lua-time-limit","masterauth","masteruser","maxclients","maxmemory","maxmemory-clients","maxmemory-eviction-tenacity","maxmemory-policy","maxmemory-samples","min-replicas-max-lag","min-replicas-to-write","min-slaves-max-lag","min-slaves-to-write","no-appendfsync-on-rewrite","notify-keyspace-events","oom-score-adj","oom-score-adj-values","pidfile","port","proc-title-template","propagation-error-behavior","protected-mode","proto-max-bulk-len","rdb-del-sync-files","rdb-save-incremental-fsync","rdbchecksum","rdbcompression","rename-command","repl-backlog-size","repl-backlog-ttl","repl-disable-tcp-nodelay","repl-diskless-load","repl-diskless-sync","repl-diskless-sync-delay","repl-diskless-sync-max-replicas","repl-ping-replica-period","repl-ping-slave-period","repl-timeout","replica-announce-ip","replica-announce-port","replica-announced","replica-ignore-disk-write-errors","replica-ignore-maxmemory","replica-lazy-flush","replica-priority","replica-read-only","replica-serve-stale-data","replicaof","requirepass","sanitize-dump-payload","save","server_cpulist","set-max-intset-entries","set-proc-title","shutdown-on-sigint","shutdown-on-sigterm","shutdown-timeout","slave-announce-ip","slave-announce-port","slave-ignore-maxmemory","slave-lazy-flush","slave-priority","slave-read-only","slave-serve-stale-data","slaveof","slowlog-log-slower-than","slowlog-max-len","socket-mark-id","stop-writes-on-bgsave-error","stream-node-max-bytes","stream-node-max-entries","supervised","syslog-enabled","syslog-facility","syslog-ident","tcp-backlog","tcp-keepalive","timeout","tls-auth-clients","tls-ca-cert-dir","tls-ca-cert-file","tls-cert-file","tls-ciphers","tls-ciphersuites","tls-client-cert-file","tls-client-key-file","tls-client-key-file-pass","tls-cluster","tls-dh-params-file","tls-key-file","tls-key-file-pass","tls-port","tls-prefer-server-ciphers","tls-protocols","tls-replication","tls-session-cache-size","tls-session-cache-timeout","tls-session-caching","tracking-table-max-keys","unixsocket","unixsocketperm","user","zset-max-listpack-entries","zset-max-listpack-value","zset-max-ziplist-entries","zset-max-ziplist-value"]}','{"build":"b-5edb3c24e59223539c6b9b623fb0efaf","version":"7.0.15","build_id":"a50d6825e71f1473372299161f75fe50e80452de","flags":"","compiler":"","stripped":true,"variant":"","allocator":"jemalloc-5.3.0","architecture":"x86_64","libc":"glibc 2.34","source_root":"","arguments":[],"path":null}');
CREATE INDEX ix_series_case_metric ON series ("case", metric);
CREATE INDEX ix_comparison_base_build ON comparison (base_build);
CREATE INDEX ix_comparison_head_build ON comparison (head_build);
CREATE INDEX ix_request_digest ON request (digest);
CREATE INDEX ix_revision_build_build ON revision_build (build);
CREATE INDEX ix_revision_parent_repository_parent ON revision_parent (repository, parent);
CREATE INDEX ix_job_request_id ON job (request_id);
CREATE INDEX ix_start_spread_platform_fingerprint_metric ON start_spread (platform_fingerprint, metric);
CREATE INDEX ix_finding_function ON finding (function);
CREATE INDEX ix_trial_request_id ON trial (request_id);
CREATE INDEX ix_verdict_metric_verdict ON verdict (metric, verdict);
CREATE INDEX ix_metric_series_id ON metric (series_id);
CREATE INDEX ix_agent_platform ON agent (platform);
CREATE INDEX ix_submission_state ON submission (state);
CREATE INDEX ix_submission_topic ON submission (topic);
CREATE INDEX ix_attempt_submission_id ON attempt (submission_id);
CREATE INDEX ix_attempt_job_id ON attempt (job_id);
CREATE INDEX ix_attempt_state ON attempt (state);
CREATE INDEX ix_delivery_received ON delivery (received);
CREATE INDEX ix_trigger_state ON "trigger" (state);
CREATE INDEX ix_trigger_subject ON "trigger" (subject);
CREATE INDEX ix_trigger_actor_created ON "trigger" (actor, created);
COMMIT;
